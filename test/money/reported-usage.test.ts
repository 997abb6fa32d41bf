import { expect } from 'chai';
import type { LedgerEntry } from '../../src/store/ledger/ledger-columns.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { toyFiles, toyStream } from '../helpers/toy-adapter.js';
import { until } from '../helpers/until.js';
import {
  chatSse,
  play,
  sse,
  startUpstream,
  type FakeUpstream,
  type Step,
} from '../helpers/upstream.js';
import {
  countedYaml,
  FILES,
  ownPrompt,
  PRICES,
  WIRES,
  WORD,
  type Act,
  type CountedWire,
} from './helpers/counted-streams.js';
import { allChargeRows } from './helpers/mixed-books.js';
import { never } from './helpers/disconnecting.js';
import {
  HELLO,
  INPUT_NANO,
  onlyCharge,
  OUTPUT_NANO,
  scriptedGateways,
} from './helpers/scripted-gateway.js';

/** A prompt that was read from the cache, in the words of all wires. */
const CACHED = { fresh: 10, prompt: 50_000, cached: 49_990 };
const ZEROS = { fresh: 0, prompt: 0, cached: 0, written: 0, tools: 0 };
const SEEN: readonly Act[] = [{ counts: CACHED }, { word: true }];
const CACHED_NANO = 10n * PRICES.input + 49_990n * PRICES.cached;

type Chunks = NonNullable<Step['chunks']>;

function stream(wire: CountedWire, acts: readonly Act[], rest: Chunks = []): Step {
  const chunks = [...wire.begin(), ...acts.map((act) => wire.act(act)), ...rest];
  return { headers: { 'content-type': wire.content_type }, chunks };
}

function wireOf(name: string): CountedWire {
  const wire = WIRES.find((one) => one.name === name);
  if (!wire) throw new Error(`There is no wire ${name}.`);
  return wire;
}

describe('usage that an upstream has reported', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let step: Step;
  before(async () => {
    upstream = await startUpstream((_, response) => play(step, response));
    const yaml = countedYaml(upstream.url, 30_000, ', drain: 300ms');
    gateway = await startGateway(yaml, { files: FILES, credit: '100' });
  });
  after(async () => {
    expect((await gateway.gateway.store.verify()).faults).to.deep.equal([]);
    await gateway.close();
    await upstream.close();
  });

  const ask = (model: string, signal?: AbortSignal, more: object = { stream: true }) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...HELLO, model, ...more }),
      ...(signal && { signal }),
    });

  /** The charge that the call adds. */
  async function chargeOf(call: () => Promise<unknown>): Promise<LedgerEntry | undefined> {
    const { store } = gateway.gateway;
    const { length } = await allChargeRows(store, gateway.account.id);
    await call();
    await until(async () => (await store.verify()).open_holds === 0, 'no hold is open');
    return (await allChargeRows(store, gateway.account.id))[length];
  }

  const costOf = (row: LedgerEntry | undefined): unknown =>
    row && { nano: -row.amount_nano, estimated: row.estimated };

  /** Asks, reads until the first word is here, and goes. */
  async function readAWordAndLeave(model: string): Promise<void> {
    const leaving = new AbortController();
    const response = await ask(model, leaving.signal);
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes(WORD)) break;
    }
    leaving.abort();
  }

  /** Asks, and goes before there is any answer. */
  async function leaveInSilence(model: string, more: object): Promise<void> {
    const before = upstream.requests.length;
    const leaving = new AbortController();
    const gone = ask(model, leaving.signal, more).catch(() => undefined);
    await until(() => upstream.requests.length > before, 'the call reaches the upstream');
    leaving.abort();
    await gone;
  }

  for (const wire of WIRES) {
    describe(`in a stream of ${wire.name}`, () => {
      it('keeps the price of the cache where the client leaves', async () => {
        step = stream(wire, SEEN, [never]);
        const row = await chargeOf(() => readAWordAndLeave(`${wire.name}-abort`));
        expect(row?.cached_tokens).to.equal(49_990);
        expect(costOf(row)).to.deep.equal({ nano: CACHED_NANO + PRICES.output, estimated: true });
      });

      it('keeps the price of the cache where the stream is cut', async () => {
        const whole = stream(wire, SEEN);
        step = { ...whole, destroyAfter: whole.chunks?.length ?? 0 };
        const row = await chargeOf(async () => (await ask(`${wire.name}-abort`)).text());
        expect(costOf(row)).to.deep.equal({ nano: CACHED_NANO + PRICES.output, estimated: true });
      });

      it('charges the prompt once when the last usage says zero', async () => {
        step = stream(wire, [...SEEN, { counts: { ...ZEROS, output: 30 } }], wire.end());
        let text = '';
        const row = await chargeOf(async () => {
          text = await (await ask(`${wire.name}-abort`)).text();
        });
        const nano = CACHED_NANO + 30n * PRICES.output;
        expect(costOf(row)).to.deep.equal({ nano, estimated: false });
        expect(text).to.include('"prompt_tokens":50000,"completion_tokens":30');
      });

      it('is not believed where its last report makes no sense', async () => {
        const odd = { fresh: -1, prompt: -1, output: 30 };
        step = stream(wire, [...SEEN, { counts: odd }], wire.end());
        const row = await chargeOf(async () => (await ask(`${wire.name}-abort`)).text());
        const nano = BigInt(ownPrompt(wire, 1)) * PRICES.input + PRICES.output;
        expect(costOf(row)).to.deep.equal({ nano, estimated: true });
      });
    });
  }

  it('is charged to a client that leaves before the first word, where the upstream bills on', async () => {
    for (const name of ['anthropic', 'gemini', 'openai']) {
      step = stream(wireOf(name), [{ counts: CACHED }], [never]);
      const row = await chargeOf(() => leaveInSilence(`${name}-drain`, { stream: true }));
      expect(costOf(row), name).to.deep.equal({ nano: CACHED_NANO, estimated: true });
    }
  });

  it('is charged with its text where a whole answer is left that comes as a stream', async () => {
    // An answer of so many tokens is asked for as a stream.
    const more = { max_tokens: 25_000 };
    step = stream(wireOf('anthropic'), [...SEEN, { word: true }], [never]);
    const row = await chargeOf(() => leaveInSilence('anthropic-drain', more));
    const nano = CACHED_NANO + 2n * PRICES.output;
    expect(costOf(row)).to.deep.equal({ nano, estimated: true });
  });
});

describe('a report of usage', () => {
  const open = scriptedGateways();

  it('is no answer alone, so that a failure behind it goes to the next upstream', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 0 };
    const one = sse([{ choices: [], usage }, { error: { message: 'Overloaded.' } }]);
    const gateway = await open({ one, two: chatSse(['one']) });
    await (await gateway.post({ ...HELLO, stream: true })).text();
    expect((await onlyCharge(gateway)).provider).to.equal('two');
  });

  it("of an operator's own codec is merged too", async () => {
    const step = toyStream([
      { index: 0, content: 'one' },
      { usage: { prompt_tokens: 9 } },
      { index: 0, finish_reason: 'stop' },
      { usage: { prompt_tokens: 0, completion_tokens: 5 } },
      'end',
    ]);
    const gateway = await open(step, { uses: './toy.yaml', files: toyFiles() });
    await (await gateway.post({ ...HELLO, stream: true })).text();
    const { amount_nano } = await onlyCharge(gateway);
    expect(amount_nano).to.equal(-(9n * INPUT_NANO + 5n * OUTPUT_NANO));
  });
});
