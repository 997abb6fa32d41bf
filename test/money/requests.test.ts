import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { openSqliteFile } from '../../src/store/sqlite/sqlite-driver.js';
import { flagsOf, type RequestRecord } from '../../src/core/request-record.js';
import { chatJson, chatSse, play, type Received } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import { startGateway } from '../helpers/gateway.js';
import { onEachStore } from '../store/helpers/ground.js';
import { recordAt } from '../store/requests/helpers.js';
import {
  closeAndAudit,
  startScriptedGateway,
  type ScriptedGateway,
} from './helpers/scripted-gateway.js';

/** Stands in every prompt, answer and argument, and may stand in no column of the store. */
const MARKER = 'zebra-crossing-9417';
const FREE =
  '\n  free: { owner: acme, capabilities: [chat], upstreams: [{ provider: one }], price: free }';

interface Expected extends Partial<Omit<RequestRecord, 'flags' | 'attempts'>> {
  flags?: string[];
  faults?: (string | null)[];
}

/** What the first upstream does is said by the last word of the prompt. */
async function first({ json }: Received, response: ServerResponse): Promise<void> {
  const { messages, stream } = json as { messages: { content: string }[]; stream?: boolean };
  const word = messages.at(-1)?.content.split(' ').at(-1);
  const error = (text: string): string =>
    JSON.stringify({ error: { message: text, type: 'invalid_request_error', code: word } });
  switch (word) {
    case 'fail':
    case 'broken':
      return play({ status: 500, body: error(`It broke at ${MARKER}.`) }, response);
    case 'refuse':
      return play({ status: 400, body: error('The temperature is wrong.') }, response);
    case 'cut':
      return play({ ...chatSse(['one', ` ${MARKER}`]), destroyAfter: 2 }, response);
    case 'wait':
      return new Promise(() => undefined);
    case 'tool':
      return play(chatJson(MARKER, toolCall()), response);
    default:
      return play(stream ? chatSse(['one', ` ${MARKER}`]) : chatJson(MARKER), response);
  }
}

function toolCall(): Record<string, unknown> {
  const call = { name: 'look', arguments: JSON.stringify({ at: MARKER }) };
  const tool_calls = [{ id: 'call_1', type: 'function', function: call }];
  const message = { role: 'assistant', content: MARKER, tool_calls };
  return { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
}

async function second({ json }: Received, response: ServerResponse): Promise<void> {
  const { messages } = json as { messages: { content: string }[] };
  const isBroken = messages.at(-1)?.content.endsWith('broken');
  return play(isBroken ? { status: 503, body: '{}' } : chatJson(MARKER), response);
}

onEachStore('the record of a request', (ground) => {
  let house: ScriptedGateway;
  /** How far the clock of the gateway is ahead. */
  let ahead_ms: number;

  beforeEach(async () => {
    ahead_ms = 0;
    const store = ground.place.dialect === 'sqlite' ? undefined : ground.place.url;
    house = await startScriptedGateway(
      { one: first, two: second },
      { model: FREE, now: () => Date.now() + ahead_ms, ...(store && { store }) },
    );
  });

  afterEach(() => closeAndAudit(house));

  const bodyOf = (word: string, more: object = {}): object => ({
    model: 'm',
    messages: [{ role: 'user', content: `${MARKER} ${word}` }],
    ...more,
  });

  async function ask(body: object, init?: RequestInit): Promise<{ id: string; status: number }> {
    const response = await house.post(body, init);
    await response.text().catch(() => undefined);
    return { id: response.headers.get('x-request-id') ?? '', status: response.status };
  }

  async function recordOf(id: string): Promise<RequestRecord> {
    const { requests } = house.gateway.store;
    await until(async () => (await requests.one(id)) !== undefined, 'its record');
    const record = await requests.one(id);
    if (!record) throw new Error('The record is missing.');
    return record;
  }

  async function expectRecord(id: string, wanted: Expected): Promise<RequestRecord> {
    const record = await recordOf(id);
    const { flags = [], faults = [null], ...rest } = wanted;
    expect(record).to.deep.include({
      account_id: house.account.id,
      key_id: house.key_id,
      endpoint: 'chat',
      ...rest,
    });
    expect(flagsOf(record)).to.deep.equal(flags);
    expect(record.attempts.map(({ fault }) => fault)).to.deep.equal(faults);
    expect(record.took_ms).to.be.at.least(record.own_ms);
    expect(record.own_ms).to.be.at.least(0);
    expect(Math.abs(record.time_ms - Date.now())).to.be.lessThan(60_000);
    return record;
  }

  it('is there for calls of every outcome, as their clients saw them', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 5 };
    const answered = { status: 200, code: null, model: 'm', provider: 'one', ...usage };
    const calls: [body: object, Expected][] = [
      [bodyOf('plain'), { ...answered, streamed: false, first_token_ms: null, cost_nano: 4_350n }],
      [
        bodyOf('stream', { stream: true }),
        { ...answered, streamed: true, completion_tokens: 2, cost_nano: 2_550n },
      ],
      [bodyOf('tool', { tools: [tool()] }), { ...answered, cost_nano: 4_350n }],
      [bodyOf('free', { model: 'free' }), { ...answered, model: 'free', cost_nano: 0n }],
      [
        bodyOf('fail'),
        { ...answered, provider: 'two', flags: ['fallback', 'moved'], faults: ['broken', null] },
      ],
      [
        bodyOf('refuse'),
        { status: 400, code: 'invalid_request', faults: ['rejected'], cost_nano: 0n },
      ],
      [
        bodyOf('broken'),
        { status: 502, code: 'upstream_error', faults: ['broken', 'overloaded'], cost_nano: 0n },
      ],
      [
        bodyOf('temperature', { temperature: 'hot' }),
        { status: 400, code: 'invalid_request', model: null, provider: null, faults: [] },
      ],
      [
        bodyOf('unknown', { model: 'nothing' }),
        { status: 400, code: 'model_not_found', model: null, faults: [] },
      ],
    ];
    for (const [body, wanted] of calls) {
      const { id, status } = await ask(body);
      expect(status).to.equal(wanted.status);
      await expectRecord(id, wanted);
      // No upstream rests any more.
      ahead_ms += 2_000;
    }
    const [refused] = await house.gateway.store.requests.page({ status: 400, limit: 9 });
    expect(refused?.code).to.equal('model_not_found');
    const page = await house.gateway.store.requests.page({ limit: 99 });
    expect(page).to.have.length(calls.length);
    const cost_nano = page.reduce((sum, record) => sum + record.cost_nano, 0n);
    const charged_nano = (await house.charges()).reduce((sum, one) => sum - one.amount_nano, 0n);
    expect(cost_nano).to.equal(charged_nano);
  });

  it('tells what the upstream said where the client was told it, and its status', async () => {
    const { id } = await ask(bodyOf('refuse'));
    const { attempts } = await recordOf(id);
    expect(attempts[0]).to.deep.include({
      provider: 'one',
      fault: 'rejected',
      status: 400,
      message: 'The temperature is wrong.',
    });
    const { id: failed } = await ask(bodyOf('fail'));
    const [attempt] = (await recordOf(failed)).attempts;
    expect(attempt).to.deep.include({
      status: 500,
      message: 'The upstream answered with status 500.',
    });
  });

  it('is there for a client that left, and for a stream that broke', async () => {
    const stop = new AbortController();
    const asked = house.post(bodyOf('wait'), { signal: stop.signal }).catch(() => undefined);
    await until(() => house.upstream.requests.length > 0, 'a call upstream');
    stop.abort();
    await asked;
    const { requests } = house.gateway.store;
    const isLeft = async (): Promise<boolean> =>
      (await requests.page({ status: 499, limit: 1 })).length === 1;
    await until(isLeft, 'the record of who left');
    const [left] = await requests.page({ status: 499, limit: 1 });
    expect(left?.code).to.equal('client_left');
    expect(flagsOf(left ?? { flags: 0, uncollected_nano: 0n })).to.deep.equal(['client_left']);
    const { id, status } = await ask(bodyOf('cut', { stream: true }));
    expect(status).to.equal(200);
    await expectRecord(id, {
      status: 200,
      code: 'upstream_error',
      streamed: true,
      flags: ['estimated', 'cut'],
      faults: ['broken'],
    });
  });

  it('is there for a 402, for none without a valid key, and holds nothing of the content', async () => {
    const { id: poor, status } = await ask(bodyOf('dear', { max_tokens: 100, n: 1 }), {
      headers: { authorization: `Bearer ${await poorKey()}`, 'content-type': 'application/json' },
    });
    expect(status).to.equal(402);
    const record = await recordOf(poor);
    expect(record).to.deep.include({ status: 402, code: 'insufficient_balance', model: 'm' });
    expect(record.attempts).to.deep.equal([]);
    const wrong = await ask(bodyOf('nobody'), {
      headers: { authorization: 'Bearer tg-wrong', 'content-type': 'application/json' },
    });
    expect(wrong.status).to.equal(401);
    for (const word of ['plain', 'stream', 'tool', 'fail', 'broken', 'cut']) {
      const stream = ['stream', 'cut'].includes(word);
      const { id } = await ask(bodyOf(word, { stream, tools: [tool()] }));
      await recordOf(id);
    }
    const { requests } = house.gateway.store;
    expect(await requests.one(wrong.id)).to.equal(undefined);
    expect(await requests.page({ limit: 99 })).to.have.length(7);
    expect(JSON.stringify(await rowsOf('requests'))).not.to.contain(MARKER);
    expect(JSON.stringify(await rowsOf('request_totals'))).not.to.contain(MARKER);
  });

  async function poorKey(): Promise<string> {
    const { id } = await house.gateway.store.createAccount('poor', 1n);
    return (await house.gateway.store.createKey(id, 'poor')).secret;
  }

  /** All columns of all rows, read behind the store's back. */
  async function rowsOf(table: string): Promise<unknown> {
    if (ground.place.dialect === 'postgres') return ground.place.sql(`select * from ${table}`);
    const database = openSqliteFile(`${house.folder}/tollgate.db`, { readonly: true });
    try {
      return database.prepare(`select * from ${table}`).all();
    } finally {
      database.close();
    }
  }

  function tool(): object {
    const parameters = { type: 'object', properties: { at: { type: 'string', enum: [MARKER] } } };
    return { type: 'function', function: { name: 'look', description: MARKER, parameters } };
  }
});

onEachStore('the totals of a process that was killed', (ground) => {
  it('are brought up to date by the next one, though no request comes', async () => {
    const now_ms = Date.now();
    const { requests } = await ground.open();
    await requests.add([recordAt(now_ms, { is_kept: false })]);
    const gateway = await startGateway(SIMULATED, { store: JSON.stringify(ground.place.url) });
    const query = { from_ms: now_ms, to_ms: now_ms + 1, period: 'day', by: [] } as const;
    try {
      const calls = async (): Promise<number> => (await requests.totals(query))[0]?.calls ?? 0;
      await until(async () => (await calls()) === 1, 'its totals', 30_000);
    } finally {
      await gateway.close();
    }
  });
});

const SIMULATED = `owners: { me: { name: Me } }
providers: { simulator: {} }
models:
  sim: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: free }
`;
