import { expect } from 'chai';
import { format } from '../../src/yaml/format.js';
import type { ConfigFault } from '../../src/core/config-fault.js';

const FAULT: ConfigFault = {
  severity: 'error',
  code: 'unknown_key',
  file: 'conf/a,b:c.yaml',
  line: 3,
  column: 5,
  message: 'unknown key "ownr"',
  hint: 'did you mean "owner"?',
};
const WARNING: ConfigFault = {
  ...FAULT,
  severity: 'warning',
  message: '50% are\r\nidle: all',
  hint: '',
};

describe('the reporter of faults', () => {
  it('writes a line for each fault', () => {
    expect(format([FAULT, WARNING], 'text').split(/\n(?=conf)/)).to.deep.equal([
      'conf/a,b:c.yaml:3:5: error: unknown key "ownr"; did you mean "owner"?',
      'conf/a,b:c.yaml:3:5: warning: 50% are\r\nidle: all',
    ]);
  });

  it('writes one JSON document', () => {
    expect(JSON.parse(format([FAULT, WARNING], 'json'))).to.deep.equal({
      faults: [FAULT, WARNING],
    });
    expect(JSON.parse(format([], 'json'))).to.deep.equal({ faults: [] });
  });

  it('escapes characters that GitHub would read as commands', () => {
    expect(format([FAULT, WARNING], 'github').split('\n')).to.deep.equal([
      '::error file=conf/a%2Cb%3Ac.yaml,line=3,col=5::unknown key "ownr"; did you mean "owner"?',
      '::warning file=conf/a%2Cb%3Ac.yaml,line=3,col=5::50%25 are%0D%0Aidle: all',
    ]);
  });

  it('prints nothing without faults', () => {
    expect([format([], 'text'), format([], 'github')]).to.deep.equal(['', '']);
  });
});
