import { expect } from 'chai';
import { envSlip, noteSlips, readEnvFile } from '../../src/yaml/env-file.js';

describe('a file of variables', () => {
  it('tells the lines with a colon in place of "=", and nothing of their values', () => {
    const text = [
      '# FIRST: a comment',
      'FIRST=1',
      'SECOND: sk-abc',
      '  export THIRD : sk-def',
      'FOURTH=http://127.0.0.1:9000',
      'SECOND: sk-ghi',
    ].join('\n');
    const env = readEnvFile(text);
    noteSlips(env, '.env', text);
    // Node 20 takes such lines into the name of the next variable.
    expect(env).to.deep.equal({ FIRST: '1', FOURTH: 'http://127.0.0.1:9000' });
    const told = ['FIRST', 'SECOND', 'THIRD', 'FOURTH'].map((name) => envSlip(env, name));
    expect(told).to.deep.equal([
      undefined,
      'line 3 of .env has a colon in place of "=": write SECOND=VALUE',
      'line 4 of .env has a colon in place of "=": write THIRD=VALUE',
      undefined,
    ]);
    expect(envSlip({}, 'SECOND')).to.equal(undefined);
  });

  it('was cut at a # within a password', () => {
    const text = [
      'PLAIN=p#ssw0rd',
      "QUOTE=it's#1 # a comment",
      'SPACE=a b #c',
      'export NONE=x # a#b',
      'LINES="one\nINNER=a#b\ntwo"',
      "SINGLE='a # b'",
    ].join('\n');
    expect(readEnvFile(text)).to.deep.equal({
      PLAIN: 'p#ssw0rd',
      QUOTE: "it's#1",
      SPACE: 'a b',
      NONE: 'x',
      LINES: 'one\nINNER=a#b\ntwo',
      SINGLE: 'a # b',
    });
  });

  it('has no variable whose name is a line with a secret', () => {
    expect(readEnvFile('FIRST: sk-abc=\nexport SECOND=2\n')).to.deep.equal({ SECOND: '2' });
  });
});
