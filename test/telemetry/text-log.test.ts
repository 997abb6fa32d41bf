import { expect } from 'chai';
import { pino } from 'pino';
import { GatewayError } from '../../src/core/errors.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { connectionError } from '../../src/upstream/connection-error.js';
import { inColour, plain } from '../../src/lib/colour.js';
import { plainError, upstreamFault } from '../../src/telemetry/plain-error.js';
import { entryText } from '../../src/telemetry/text-log.js';

/** The text of one line, without its time. */
function written(fields: object, msg: string, paint = plain): string {
  let text = '';
  const write = (json: string): void => void (text = entryText(json, paint));
  pino({ base: null, serializers: { err: plainError } }, { write }).warn(fields, msg);
  return text.replace(/^\S+ /u, '');
}

describe('the log on a terminal', () => {
  it('has the level, the message and the facts of a line', () => {
    expect(written({ provider: 'lab', waits: 3 }, 'an upstream failed')).to.equal(
      'WARN  an upstream failed provider=lab waits=3\n',
    );
    expect(written({}, 'late', inColour)).to.equal('\u001B[33mWARN \u001B[0m late\n');
  });

  it('has a line below for each entry of a list', () => {
    expect(written({ changes: ['model a is new', 'model b is gone'] }, 'took it up')).to.equal(
      'WARN  took it up\n    model a is new\n    model b is gone\n',
    );
  });

  it('has the stack below a fault of ours', () => {
    const lines = written({ err: new Error('a line\nand another') }, 'broke').split('\n');
    expect(lines[0]).to.equal('WARN  broke error=a line?and another');
    expect(lines[1]).to.match(/^ {4}at .*text-log\.test\.ts/u);
  });

  it('is one line for a fault of an upstream', () => {
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const fault = new UpstreamError('unreachable', 'It is away.', undefined, { cause });
    const shown = new GatewayError('upstream_error', 'It is away.', { cause: fault });
    for (const err of [fault, shown]) {
      expect(written({ err }, 'no video')).to.equal('WARN  no video error=It is away.\n');
      expect(plainError(err)).to.deep.equal({
        name: err.name,
        fault: 'unreachable',
        message: 'It is away.',
        cause: 'ECONNREFUSED',
      });
    }
  });

  it('says the code of a connection once', () => {
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const fault = connectionError(cause, 'nothing');
    const message = 'The upstream is unreachable.';
    const wanted = { fault: 'unreachable', codes: 'ECONNREFUSED', message };
    expect(upstreamFault(fault)).to.deep.equal(wanted);
  });

  it('gives the terminal no orders from outside', () => {
    const text = written({ model: '\u001B[2J', list: ['\u009B31m'] }, 'two\rlines');
    expect(text).to.match(/^[ -~\n]+$/u);
  });
});
