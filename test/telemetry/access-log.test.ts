import { expect } from 'chai';
import fc from 'fast-check';
import { pino } from 'pino';
import { AccessLog, type RequestLine } from '../../src/telemetry/access-log.js';

function logger(level = 'info') {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const log = pino({ level, base: null }, { write });
  return { log, direct: new AccessLog(log, { write }), lines };
}

const timeless = (line: string | undefined) => line?.replace(/"time":\d+/u, '"time":0');

describe('the line of a request', () => {
  const text = fc.option(fc.oneof(fc.string({ unit: 'binary' }), fc.string()), { nil: undefined });

  it('is what pino would write', () => {
    const lines = fc.record({
      request_id: fc.oneof(fc.uuid(), fc.string({ unit: 'binary' })),
      endpoint: text,
      status: fc.integer({ min: 200, max: 599 }),
      took_ms: fc.float({ min: 0, max: 1e6, noNaN: true }),
      account: text,
      model: text,
      cost_nano: fc.option(fc.bigInt({ min: 0n, max: 2n ** 63n }), { nil: undefined }),
      uncollected_nano: fc.option(fc.bigInt({ min: 0n, max: 2n ** 63n }), { nil: undefined }),
    });
    const property = fc.property(lines, (line: RequestLine) => {
      const own = logger();
      own.direct.write(line);
      const pinos = logger();
      const took_ms = Math.round(line.took_ms * 10) / 10;
      pinos.log.info({
        ...line,
        took_ms,
        cost_nano: line.cost_nano?.toString(),
        uncollected_nano: line.uncollected_nano?.toString(),
      });
      const [written] = own.lines;
      expect(written?.endsWith('}\n')).to.equal(true);
      expect(JSON.parse(timeless(written) ?? '')).to.deep.equal(
        JSON.parse(timeless(pinos.lines[0]) ?? ''),
      );
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('is one line, in the order and the digits of pino', () => {
    const line = {
      request_id: 'r',
      endpoint: 'chat',
      status: 200,
      account: 'acc_1',
      model: 'a"b\n',
    };
    const own = logger();
    own.direct.write({ ...line, took_ms: 1.25, cost_nano: 7n });
    expect(timeless(own.lines[0])).to.equal(
      '{"level":30,"time":0,"request_id":"r","endpoint":"chat","status":200,"took_ms":1.3,' +
        '"account":"acc_1","model":"a\\"b\\n","cost_nano":"7"}\n',
    );
    expect(Date.now() - JSON.parse(own.lines[0] ?? '').time).to.be.within(0, 5_000);
  });

  it('is written by the logger where the access log has no destination of its own', () => {
    const begin = { request_id: 'r', endpoint: 'chat', status: 200, took_ms: 1.25 };
    const full = { ...begin, account: 'acc_1', model: 'm', cost_nano: 7n };
    const [own, other] = [logger(), logger()];
    own.direct.write(full);
    new AccessLog(other.log).write(full);
    expect(timeless(other.lines[0])).to.equal(timeless(own.lines[0]));
  });

  it('is not written where the level is above it', () => {
    const { direct, lines } = logger('warn');
    const undefineds = { account: undefined, model: undefined, cost_nano: undefined };
    direct.write({ request_id: 'r', endpoint: 'chat', status: 200, took_ms: 1, ...undefineds });
    expect(lines).to.deep.equal([]);
  });
});
