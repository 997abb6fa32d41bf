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

interface Location {
  physicalLocation: { artifactLocation: { uri: string } };
}

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

  it('has no failure in the XML of a run that warnings have ended', () => {
    expect(format([WARNING], 'junit'))
      .to.include('failures="0"')
      .and.include('<system-out>warning');
    const strict = format([FAULT, WARNING], 'junit', undefined, true);
    expect(strict).to.include('tests="2" failures="2"').and.not.include('<system-out>');
  });

  it('escapes characters that GitHub would read as commands', () => {
    expect(format([FAULT, WARNING], 'github').split('\n')).to.deep.equal([
      '::error file=conf/a%2Cb%3Ac.yaml,line=3,col=5::unknown key "ownr"; did you mean "owner"?',
      '::warning file=conf/a%2Cb%3Ac.yaml,line=3,col=5::50%25 are%0D%0Aidle: all',
    ]);
  });

  it('writes a URI of each file into SARIF, also of a path with spaces or of an absolute one', () => {
    const files = ['conf/a b,100%.yaml', '/etc/tollgate/gateway.yaml', '../models/a.yaml'];
    const { runs } = JSON.parse(
      format(
        files.map((file) => ({ ...FAULT, file })),
        'sarif',
      ),
    ) as { runs: { columnKind: string; results: { locations: [Location] }[] }[] };
    const uris = runs[0]?.results.map(
      ({ locations: [{ physicalLocation }] }) => physicalLocation.artifactLocation.uri,
    );
    expect(uris).to.deep.equal([
      'conf/a%20b%2C100%25.yaml',
      'file:///etc/tollgate/gateway.yaml',
      '../models/a.yaml',
    ]);
    expect(runs[0]?.columnKind).to.equal('utf16CodeUnits');
  });

  it('prints nothing without faults', () => {
    expect([format([], 'text'), format([], 'github')]).to.deep.equal(['', '']);
  });
});
