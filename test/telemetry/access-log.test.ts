import { expect } from 'chai';
import fc from 'fast-check';
import { pino } from 'pino';
import { type RequestRecord, FLAGS } from '../../src/core/request-record.js';
import { inColour } from '../../src/lib/colour.js';
import {
  AccessLog,
  jsonOf,
  lineOf,
  textOfLine,
  type RequestLine,
} from '../../src/telemetry/access-log.js';
import { recordAt } from '../store/requests/helpers.js';

const NOW_MS = 1_763_894_000_000;

function logger(level = 'info') {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const log = pino({ level, base: null }, { write });
  const direct = new AccessLog(log, { write }, () => NOW_MS);
  const endpoints = [{ name: 'chat', method: 'POST', path: '/v1/chat/completions' }];
  direct.serve(endpoints);
  return { log, direct, lines };
}

const chat = (rest: Partial<RequestRecord> = {}): RequestRecord =>
  recordAt(NOW_MS, { id: '019aafa0-0000-7000-8000-000000000000', ...rest });

describe('the access log', () => {
  it('is one line of JSON with all facts of a record, in an order that never changes', () => {
    const own = logger();
    own.direct.take(chat({ first_token_ms: 12.34, cost_nano: 1_500n, took_ms: 1_234.56 }));
    expect(own.lines).to.deep.equal([
      '{"level":30,"time":1763894000000,"request_id":"019aafa0-0000-7000-8000-000000000000",' +
        '"status":200,"ms":1235,"first_ms":12.3,"account":"acc_1","model":"gpt-4o-mini",' +
        '"upstream":"openai","in":9,"out":5,"cost":"0.0000015",' +
        '"msg":"POST /v1/chat/completions"}\n',
    ]);
  });

  it('leaves out what is not known of a request that was refused', () => {
    const own = logger();
    const none = { model: null, provider: null, prompt_tokens: null, completion_tokens: null };
    own.direct.take(
      chat({ ...none, status: 402, code: 'insufficient_balance', cost_nano: 0n, took_ms: 0.123 }),
    );
    const line = JSON.parse(own.lines[0] ?? '') as object;
    expect(line).to.include({ level: 30, status: 402, code: 'insufficient_balance', ms: 0.1 });
    expect(line).not.to.have.any.keys('model', 'upstream', 'in', 'out', 'cost', 'first_ms');
  });

  it('has a short line for a request that was refused before its caller was known', () => {
    const own = logger();
    const call = `GET /${'v1/'.repeat(500)}`;
    own.direct.write({ request_id: 'r', status: 401, call, took_ms: 1, code: 'invalid_api_key' });
    const [line = ''] = own.lines;
    expect(line.length).to.be.below(300);
    expect(line).to.match(
      /^\{"level":30,"time":\d+,"request_id":"r","status":401,"ms":1,"code":"invalid_api_key","msg":"GET \/v1[^"]*\.\.\."\}\n$/u,
    );
  });

  it('warns of 5xx and of answers that broke off, and of nothing else', () => {
    const own = logger('warn');
    own.direct.take(chat({ status: 429, code: 'rate_limited' }));
    own.direct.take(chat({ status: 499, code: 'client_left' }));
    own.direct.take(chat());
    expect(own.lines).to.deep.equal([]);
    own.direct.take(chat({ status: 502, code: 'upstream_error' }));
    own.direct.take(chat({ code: 'upstream_error', flags: FLAGS.cut }));
    own.direct.write({ request_id: 'r', status: 503, call: 'GET /', took_ms: 1, code: 'draining' });
    const levels = own.lines.map((line) => (JSON.parse(line) as { level: number }).level);
    expect(levels).to.deep.equal([40, 40, 40]);
  });

  it('says the same through a logger where it has no destination of its own', () => {
    const [own, other] = [logger(), logger()];
    const record = chat({ code: 'upstream_error', status: 502, cost_nano: 5n, first_token_ms: 7 });
    own.direct.take(record);
    const through = new AccessLog(other.log, undefined, () => NOW_MS);
    through.serve([{ name: 'chat', method: 'POST', path: '/v1/chat/completions' }]);
    through.take(record);
    const parsed = [own, other].map(({ lines: [line = ''] }) => {
      return { ...(JSON.parse(line) as object), time: 0 };
    });
    expect(parsed[0]).to.deep.equal(parsed[1]);
  });

  describe('under 300 bytes', () => {
    const sensible: RequestLine = {
      ...lineOf(chat(), 'POST /v1/chat/completions', NOW_MS),
      account: 'acc_0123456789abcdef',
      model: 'anthropic/claude-sonnet-4-5',
      upstream: 'anthropic',
      took_ms: 12_345,
      first_ms: 1_234,
      prompt_tokens: 123_456,
      completion_tokens: 12_345,
      cost_nano: 1_234_567n,
    };

    it('names everything whole where names are of the usual length', () => {
      const line = jsonOf(sensible);
      expect(line.length).to.be.below(300);
      expect(line).to.include('"anthropic/claude-sonnet-4-5"').and.to.include(sensible.call);
    });

    it('cuts the longest names first, and neither the account nor a figure', () => {
      const line = jsonOf({
        ...sensible,
        call: 'POST /v1/queue/{model}/requests/{requestID}/status',
        model: 'accounts/fireworks/models/llama-v3p1-405b-instruct-long-context',
        upstream: 'fireworks',
      });
      expect(line.length).to.be.within(250, 299);
      const parsed = JSON.parse(line) as Record<string, string>;
      expect(parsed).to.include({ account: sensible.account, upstream: 'fireworks', in: 123_456 });
      expect(parsed.model).to.match(/^accounts\/fireworks.*\.\.\.$/u);
    });

    it('whatever the names and figures are, as JSON in ASCII', () => {
      const text = fc.option(
        fc.oneof(fc.string({ unit: 'binary', maxLength: 256 }), fc.string({ maxLength: 256 })),
        { nil: undefined },
      );
      const count = fc.option(fc.nat({ max: 1e9 }), { nil: undefined });
      const nano = fc.option(fc.bigInt({ min: 0n, max: 10n ** 13n }), { nil: undefined });
      const lines = fc.record({
        time_ms: fc.constant(NOW_MS),
        request_id: fc.uuid(),
        status: fc.integer({ min: 200, max: 599 }),
        call: fc.string({ unit: 'binary', maxLength: 2_000 }),
        took_ms: fc.float({ min: 0, max: 1e6, noNaN: true }),
        first_ms: fc.option(fc.float({ min: 0, max: 1e6, noNaN: true }), { nil: undefined }),
        account: fc.constantFrom(undefined, 'acc_0123456789abcdef'),
        model: text,
        upstream: text,
        prompt_tokens: count,
        completion_tokens: count,
        cost_nano: nano,
        uncollected_nano: nano,
        code: fc.constantFrom(undefined, 'unsupported_capability'),
      });
      const property = fc.property(lines, (line) => {
        const written = jsonOf(line);
        expect(Buffer.byteLength(written)).to.be.below(300);
        expect(written).to.match(/^[ -~]+\n$/u);
        expect(JSON.parse(written)).to.include({ request_id: line.request_id });
      });
      fc.assert(property, { numRuns: 1_000 });
    });
  });

  describe('on a terminal', () => {
    const record = chat({ first_token_ms: 120, took_ms: 1_500, cost_nano: 1_500n });
    const line = lineOf(record, 'POST /v1/chat/completions', NOW_MS);

    it('is readable', () => {
      expect(textOfLine(line)).to.match(/^\d\d:\d\d:20\.000 /u);
      expect(textOfLine(line).slice('12:34:56.789 '.length)).to.equal(
        '200 POST /v1/chat/completions gpt-4o-mini via openai 9+5 tokens 1.50s (first 120ms) ' +
          '$0.0000015 acc_1 019aafa0-0000-7000-8000-000000000000\n',
      );
    });

    it('leaves out what does not fit, the ID first', () => {
      const whole = textOfLine(line).length - 1;
      expect(textOfLine(line, inColour, whole)).to.equal(textOfLine(line, inColour));
      expect(textOfLine(line, undefined, whole - 1)).to.match(/\$0\.0000015 acc_1\n$/u);
      expect(textOfLine(line, undefined, 60)).to.match(/completions gpt-4o-mini\n$/u);
      for (let columns = 1; columns < whole; columns++) {
        expect(textOfLine(line, undefined, columns).length - 1).to.be.at.most(columns);
      }
    });

    it('has a colour for each kind of outcome', () => {
      const colour = (status: number) => {
        return /\[(\d+)m(?=\d{3})/u.exec(textOfLine({ ...line, status }, inColour))?.[1];
      };
      expect([200, 402, 502].map(colour)).to.deep.equal(['32', '33', '31']);
    });

    it('gives the terminal no orders from outside', () => {
      const call = 'GET /\u001B[2J\u202E\n\r\u009B31m';
      expect(textOfLine({ ...line, call })).to.match(/^[ -~]+\n$/u);
    });
  });
});
