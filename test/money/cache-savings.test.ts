import { expect } from 'chai';
import fc from 'fast-check';
import { chatJson, sse, type Received } from '../helpers/upstream.js';
import type { ServerResponse } from 'node:http';
import type { LedgerEntry } from '../../src/store/ledger/ledger-columns.js';
import { flagsOf, type RequestRecord } from '../../src/core/request-record.js';
import { onEachStore } from '../store/helpers/ground.js';
import { rollUp } from '../store/requests/helpers.js';
import { HELLO, scriptedGateways } from './helpers/scripted-gateway.js';

/** In nano-dollars a token: 1,000 in, 100 cached, 1,250 written; dearer above 500 tokens. */
const PRICE =
  '{ input_per_million: 1, cached_input_per_million: 0.1, cache_write_per_million: 1.25, ' +
  'output_per_million: 10, long_prompt: { above_tokens: 500, input_per_million: 2.0000005, ' +
  'cached_input_per_million: 0.2, output_per_million: 15 } }';

const AGENTS = {
  'claude-cli/2.1.330 (external, cli)': 'claude-cli',
  'codex_exec/0.169.0 (Debian 12.0.0; x86_64) xterm': 'codex',
  'OpenAI/Python 2.8.1': 'openai-python',
} as const;

interface Call {
  prompt: number;
  cached: number;
  written: number;
  streams: boolean;
  agent: keyof typeof AGENTS;
}

const calls: fc.Arbitrary<Call> = fc
  .record({
    prompt: fc.nat(1_000),
    cached: fc.double({ min: 0, max: 1, noNaN: true }),
    written: fc.double({ min: 0, max: 1, noNaN: true }),
    streams: fc.boolean(),
    agent: fc.constantFrom(...(Object.keys(AGENTS) as (keyof typeof AGENTS)[])),
  })
  .map(({ prompt, cached, written, ...rest }) => {
    const read = Math.round(cached * prompt);
    return { prompt, cached: read, written: Math.round(written * (prompt - read)), ...rest };
  });

function usageOf({ prompt, cached, written }: Call): object {
  return {
    prompt_tokens: prompt,
    completion_tokens: 3,
    total_tokens: prompt + 3,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  };
}

/** What the caches saved by a plain model: the bill without caches, less the bill with them. */
function savedBy({ prompt, cached, written }: Call): bigint {
  const isLong = prompt > 500;
  // In millionths of a nano-dollar a token. A price that the block does not name stays.
  const [input, read, output] = isLong
    ? [2_000_000_500n, 200_000_000n, 15_000_000_000n]
    : [1_000_000_000n, 100_000_000n, 10_000_000_000n];
  const write = 1_250_000_000n;
  const up = (sum: bigint): bigint => (sum + 999_999n) / 1_000_000n;
  const without = up(BigInt(prompt) * input + 3n * output);
  const plain = BigInt(prompt - cached - written) * input;
  return without - up(plain + BigInt(cached) * read + BigInt(written) * write + 3n * output);
}

onEachStore('what caches saved', (ground) => {
  const startGateway = scriptedGateways();

  it('is in the ledger, the record and the totals of each call, with its agent', async () => {
    const script = ({ body }: Received, response: ServerResponse): void => {
      const { messages, stream } = JSON.parse(body) as {
        messages: { content: string }[];
        stream?: boolean;
      };
      const usage = JSON.parse(messages[0]?.content ?? '') as object;
      if (stream) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const chunk = { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] };
        const events = [chunk, { choices: [], usage }].map((one) => `data: ${JSON.stringify(one)}`);
        response.end(`${events.join('\n\n')}\n\ndata: [DONE]\n\n`);
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      const message = { role: 'assistant', content: 'Hi' };
      response.end(
        JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }),
      );
    };
    const gateway = await startGateway(script, { price: PRICE, store: ground.place.url });
    const { store } = gateway.gateway;
    const made = fc.sample(calls, { numRuns: 16, seed: 54 });
    const asked = new Map<string, Call>();
    await Promise.all(
      made.map(async (call) => {
        const { streams: stream, agent } = call;
        const content = JSON.stringify(usageOf(call));
        const headers = {
          authorization: `Bearer ${gateway.secret}`,
          'content-type': 'application/json',
          'user-agent': agent,
        };
        const body = { ...HELLO, stream, messages: [{ role: 'user', content }] };
        const answer = await gateway.post(body, { headers });
        await answer.text();
        expect(answer.status).to.equal(200);
        asked.set(answer.headers.get('x-request-id') ?? '', call);
      }),
    );
    await gateway.settled();
    const charges = await gateway.charges();
    expect(charges).to.have.length(made.length);
    const records = await store.requests.page({ limit: 100 });
    const named = ({ saved_nano, lost_nano, agent }: LedgerEntry | RequestRecord) => {
      return { saved_nano: saved_nano ?? 0n, lost_nano: lost_nano ?? 0n, agent };
    };
    for (const [id, call] of asked) {
      const expected = { saved_nano: savedBy(call), lost_nano: 0n, agent: AGENTS[call.agent] };
      const charge = charges.find(({ reference }) => reference === id);
      const record = records.find((one) => one.id === id);
      expect(charge && named(charge), JSON.stringify(call)).to.deep.equal(expected);
      expect(record && named(record), JSON.stringify(call)).to.deep.equal(expected);
    }
    await rollUp(ground, store);
    const span = {
      from_ms: Date.now() - 86_400_000,
      to_ms: Date.now() + 1,
      period: 'day',
    } as const;
    const totals = await store.requests.totals({ ...span, by: ['agent'] });
    for (const [agent, name] of Object.entries(AGENTS)) {
      const own = made.filter((call) => call.agent === agent);
      const saved_nano = own.reduce((sum, call) => sum + savedBy(call), 0n);
      expect(totals.find((row) => row.agent === name)).to.include({
        calls: own.length,
        saved_nano,
      });
    }
  });

  it('comes with what a move to another upstream lost, at most, and the flag of the call', async () => {
    const usage = { prompt_tokens: 400, completion_tokens: 1, total_tokens: 401 };
    const details = { prompt_tokens_details: { cached_tokens: 150 } };
    const script = {
      down: { status: 500, body: '{}' },
      up: chatJson('Hello', { usage: { ...usage, ...details } }),
    };
    const upstreams = '{ provider: down, weight: 1 }, { provider: up, weight: 1 }';
    const options = { price: PRICE, store: ground.place.url, upstreams };
    const gateway = await startGateway(script, options);
    for (let at = 0; at < 20; at += 1) {
      const messages = [{ role: 'user', content: `Hello ${at}` }];
      await (await gateway.post({ ...HELLO, messages })).text();
    }
    await gateway.settled();
    const { store } = gateway.gateway;
    const records = new Map(
      (await store.requests.page({ limit: 100 })).map((record) => [record.id, record] as const),
    );
    let moved = 0;
    for (const { reference, saved_nano, lost_nano } of await gateway.charges()) {
      const record = records.get(reference);
      const isMoved = record !== undefined && flagsOf(record).includes('moved');
      if (isMoved) moved += 1;
      expect(saved_nano).to.equal(150n * 900n);
      expect(lost_nano).to.equal(isMoved ? 250n * 900n : null);
      expect(record).to.include({ saved_nano, lost_nano: lost_nano ?? 0n });
    }
    expect(moved).to.be.within(1, 19);
  });

  it('is below zero where a cache was written and never read', async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 };
    const details = { prompt_tokens_details: { cache_write_tokens: 80 } };
    const answer = chatJson('Hello', { usage: { ...usage, ...details } });
    const gateway = await startGateway(answer, { price: PRICE, store: ground.place.url });
    await (await gateway.post(HELLO)).text();
    await gateway.settled();
    expect((await gateway.charges())[0]?.saved_nano).to.equal(-80n * 250n);
  });

  it('is nothing, and null in the ledger, of an answer that names no cache', async () => {
    const text = { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] };
    const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 };
    const answer = sse([text, { choices: [], usage }, 'data: [DONE]\n\n']);
    const gateway = await startGateway(answer, { price: PRICE, store: ground.place.url });
    await (await gateway.post({ ...HELLO, stream: true })).text();
    await gateway.settled();
    const [charge] = await gateway.charges();
    expect(charge).to.include({ saved_nano: null, lost_nano: null });
  });
});
