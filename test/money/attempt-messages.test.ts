import { expect } from 'chai';
import type { RequestRecord, UpstreamAttempt } from '../../src/core/request-record.js';
import { chatJson, chatSse, sse, type Step } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import {
  scriptedGateways,
  UPSTREAM_KEY,
  type ScriptedGateway,
} from './helpers/scripted-gateway.js';

/** Stands in the prompt, and in what the upstreams say of it; may stand in no record. */
const MARKER = 'zebra-crossing-9417';

interface Case {
  name: string;
  script: Step;
  stream?: boolean;
  provider?: string;
  wanted: Partial<UpstreamAttempt>;
}

function error(status: number, message: string, code: string): Step {
  return { status, body: JSON.stringify({ error: { message, type: 'some_error', code } }) };
}

/** Says the prompt and the key, as careless upstreams do. */
const CARELESS = `You sent "${MARKER}" with ${UPSTREAM_KEY}.`;

const CASES: Case[] = [
  {
    name: 'a 400 that the client is told',
    script: error(400, `The temperature of '${MARKER}' is wrong. ${CARELESS}`, 'bad_value'),
    wanted: {
      fault: 'rejected',
      status: 400,
      codes: 'bad_value, some_error',
      message: `The temperature of '…' is wrong. You sent "…" with ***.`,
    },
  },
  {
    name: 'a 400 for a prompt that is too long',
    script: error(
      400,
      "This model's maximum context length is 8 tokens.",
      'context_length_exceeded',
    ),
    wanted: { fault: 'context', message: "This model's maximum context length is 8 tokens." },
  },
  {
    name: 'a 401',
    script: error(401, `Incorrect API key: ${UPSTREAM_KEY}.`, 'invalid_api_key'),
    wanted: {
      fault: 'credentials',
      status: 401,
      codes: 'invalid_api_key, some_error',
      message: "The upstream refused the gateway's credentials.",
    },
  },
  {
    name: 'a 403',
    script: error(403, CARELESS, UPSTREAM_KEY),
    wanted: {
      fault: 'credentials',
      status: 403,
      codes: '***, some_error',
      message: "The upstream refused the gateway's credentials.",
    },
  },
  {
    name: 'a 429',
    script: error(429, CARELESS, 'rate_limit_exceeded'),
    wanted: {
      fault: 'rate_limited',
      status: 429,
      codes: 'rate_limit_exceeded, some_error',
      message: 'The upstream is limiting the rate of calls.',
    },
  },
  {
    name: 'a 500 with JSON',
    script: error(500, CARELESS, 'server_error'),
    wanted: {
      fault: 'broken',
      status: 500,
      codes: 'server_error, some_error',
      message: 'The upstream answered with status 500.',
    },
  },
  {
    name: 'a stream that breaks',
    script: { ...chatSse(['one', MARKER]), destroyAfter: 3 },
    stream: true,
    wanted: { fault: 'broken', status: null, message: "The upstream's answer was cut off." },
  },
  {
    name: 'a stream that breaks with an error of its own',
    script: sse([
      { choices: [{ index: 0, delta: { content: 'one' }, finish_reason: null }] },
      { error: { message: CARELESS, type: 'invalid_request_error', code: 400 } },
    ]),
    stream: true,
    wanted: { fault: 'rejected', status: 400, message: 'The upstream rejected the request.' },
  },
  {
    name: 'an upstream that does not answer in time',
    script: { hold: new Promise(() => undefined) },
    provider: 'timeout: { first_byte: 50ms }',
    wanted: {
      fault: 'timeout',
      status: null,
      message: 'The upstream sent no answer within 50 ms (first_byte).',
    },
  },
  {
    name: 'an upstream that hangs up',
    script: { destroyAfter: -1 },
    wanted: {
      fault: 'broken',
      status: null,
      message: 'The upstream closed the connection without an answer.',
    },
  },
];

describe('what a record keeps of a failed attempt', () => {
  const open = scriptedGateways();
  const body = { model: 'm', messages: [{ role: 'user', content: `Cross at ${MARKER}` }] };

  async function recordOf(house: ScriptedGateway, stream = false): Promise<RequestRecord> {
    const answer = await house.post({ ...body, stream });
    await answer.text();
    return recordBy(house, answer.headers.get('x-request-id') ?? '');
  }

  async function recordBy({ gateway }: ScriptedGateway, id: string): Promise<RequestRecord> {
    const { requests } = gateway.store;
    await until(async () => (await requests.one(id)) !== undefined, 'its record');
    const record = await requests.one(id);
    if (!record) throw new Error('The record is missing.');
    expect(JSON.stringify(record.attempts)).not.to.contain(MARKER).and.not.to.contain(UPSTREAM_KEY);
    return record;
  }

  for (const { name, script, stream, provider = '', wanted } of CASES) {
    it(`tells of ${name}`, async () => {
      const house = await open(script, { provider });
      const { attempts } = await recordOf(house, stream);
      expect(attempts).to.have.length(1);
      expect(attempts[0]).to.deep.include(wanted);
    });
  }

  it('tells of an upstream that takes no connection', async () => {
    const house = await open({ status: 200 });
    await house.upstream.close();
    const { attempts } = await recordOf(house);
    expect(attempts[0]).to.deep.include({
      fault: 'unreachable',
      status: null,
      codes: 'ECONNREFUSED',
      message: 'The upstream is unreachable.',
    });
    house.upstream.close = () => Promise.resolve();
  });

  it('tells of each upstream that was asked, in the words of the gateway', async () => {
    const tooLong = error(400, `Too long: ${CARELESS}`, 'context_length_exceeded');
    const scripts = { one: error(500, CARELESS, 'server_error'), two: tooLong };
    const house = await open({ ...scripts, three: chatJson('Hi') });
    const { attempts, status } = await recordOf(house);
    expect(status).to.equal(200);
    expect(attempts.map(({ message }) => message)).to.deep.equal([
      'The upstream answered with status 500.',
      'The prompt is too long for the model.',
      null,
    ]);
  });

  it('does not blame the upstream for a client that left', async () => {
    const house = await open({ hold: new Promise(() => undefined) });
    const stop = new AbortController();
    const asked = house.post(body, { signal: stop.signal }).catch(() => undefined);
    await until(() => house.upstream.requests.length === 1, 'a call upstream');
    stop.abort();
    await asked;
    const { requests } = house.gateway.store;
    await until(async () => (await requests.page({ limit: 1 })).length === 1, 'its record');
    const [left] = await requests.page({ limit: 1 });
    const { attempts } = await recordBy(house, left?.id ?? '');
    expect(attempts[0]).to.deep.include({
      fault: 'client_left',
      message: 'The client left before the upstream had answered.',
    });
  });
});

describe('the times of a record', () => {
  const open = scriptedGateways();

  it('tell when the key was accepted, the request read and the hold taken', async () => {
    const house = await open(chatJson('Hi'));
    const answer = await house.post({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
    await answer.text();
    const record = await house.gateway.store.requests.one(answer.headers.get('x-request-id') ?? '');
    const { auth_ms, read_ms, hold_ms, took_ms = 0 } = record ?? {};
    expect(auth_ms).to.be.a('number').greaterThan(0);
    expect(read_ms)
      .to.be.a('number')
      .at.least(auth_ms ?? NaN);
    expect(hold_ms)
      .to.be.a('number')
      .at.least(read_ms ?? NaN);
    expect(took_ms).to.be.at.least(hold_ms ?? NaN);
  });

  it('end where a request was refused', async () => {
    const house = await open(chatJson('Hi'));
    const answer = await house.post({ model: 'm', messages: 'none' });
    const id = answer.headers.get('x-request-id') ?? '';
    await answer.text();
    const { requests } = house.gateway.store;
    await until(async () => (await requests.one(id)) !== undefined, 'its record');
    const record = await requests.one(id);
    expect(record).to.deep.include({ read_ms: null, hold_ms: null });
    expect(record?.auth_ms).to.be.greaterThan(0);
  });
});
