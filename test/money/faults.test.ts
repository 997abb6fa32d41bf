import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { Store } from '../../src/store/store-types.js';
import { chatJson, chatSse, play, sse, type Received, type Step } from '../helpers/upstream.js';
import { dataOf, scriptedGateways, type ScriptedGateway } from './helpers/scripted-gateway.js';

type Watched = 'caller' | 'hold' | 'charge' | 'release';
const WATCHED: readonly Watched[] = ['caller', 'hold', 'charge', 'release'];

/** A failure that leaves the act undone, and one that hides that it was done. */
type Mode = 'before' | 'after';

/** Makes the store fail once, at the nth act from now. */
class Saboteur {
  #left = Infinity;
  #mode: Mode = 'before';

  constructor(store: Store) {
    for (const name of WATCHED) this.#watch(store, name);
  }

  arm(nth: number, mode: Mode): void {
    this.#left = nth;
    this.#mode = mode;
  }

  /** True once the failure has happened. */
  get hasStruck(): boolean {
    return this.#left <= 0;
  }

  #watch<Name extends Watched>(store: Store, name: Name): void {
    const act = store[name].bind(store) as (...args: unknown[]) => Promise<unknown>;
    const sabotaged = async (...args: unknown[]): Promise<unknown> => {
      this.#left -= 1;
      const strikes = this.#left === 0;
      if (strikes && this.#mode === 'before') throw new Error(`disk on fire at ${name}`);
      const done = await act(...args);
      if (strikes) throw new Error(`disk on fire after ${name}`);
      return done;
    };
    Object.assign(store, { [name]: sabotaged });
  }
}

const SCRIPTS: Record<string, Step> = {
  json: chatJson('Hello'),
  stream: chatSse(['one', ' two']),
  refused: { status: 400, body: '{"error":{"message":"no"}}' },
  broken: { status: 500 },
  cut: sse([{ choices: [{ index: 0, delta: { content: 'one' } }] }]),
};

interface Seen {
  kind: string;
  status: number;
  text: string;
}

async function scenario(house: ScriptedGateway): Promise<Seen[]> {
  const seen: Seen[] = [];
  for (const kind of Object.keys(SCRIPTS)) {
    const stream = kind === 'stream' || kind === 'cut';
    const messages = [{ role: 'user', content: kind }];
    const response = await house.post({ model: 'm', messages, stream });
    seen.push({ kind, status: response.status, text: await response.text() });
  }
  return seen;
}

/** The request id of an answer that the client has whole. */
function wholeId({ status, text }: Seen): string | undefined {
  if (status !== 200) return undefined;
  const isWhole = text.startsWith('data:') ? dataOf(text).at(-1) === '[DONE]' : true;
  return isWhole ? /"id":"chatcmpl-([^"]+)"/u.exec(text)?.[1] : undefined;
}

/** A client that did not get its answer whole was told so, in the one shape, without the reason. */
function expectClear(seen: Seen): void {
  expect(seen.text).to.not.include('on fire');
  if (wholeId(seen) !== undefined) return;
  const last = seen.status === 200 ? (dataOf(seen.text).at(-1) ?? '') : seen.text;
  const { error } = JSON.parse(last) as { error: { message: string; code: string } };
  expect(error.message).to.not.equal('');
  expect(error.code).to.be.oneOf(['internal_error', 'upstream_error', 'invalid_request']);
}

describe('a store that fails once', () => {
  const open = scriptedGateways();

  const cases = (['before', 'after'] as const).flatMap((mode) => [
    { mode, terms: {}, whose: 'a key' },
    { mode, terms: { limit_nano: 1_000_000_000n }, whose: 'a key with a limit' },
  ]);
  for (const { mode, terms, whose } of cases) {
    it(`loses no charge and keeps no hold of ${whose}, when any store call fails ${mode} it acts`, async () => {
      const answer = async ({ json }: Received, response: ServerResponse): Promise<void> => {
        const { messages } = json as { messages: { content: string }[] };
        await play(SCRIPTS[messages[0]?.content ?? ''] ?? {}, response);
      };
      const house = await open(answer, { terms });
      const saboteur = new Saboteur(house.gateway.store);
      const sound = (await scenario(house)).map(({ kind, status }) => `${kind} ${status}`);
      let charged = (await house.charges()).length;
      let nth = 0;
      do {
        nth += 1;
        saboteur.arm(nth, mode);
        const seen = await scenario(house);
        seen.forEach(expectClear);
        await house.settled();
        const references = (await house.charges()).map(({ reference }) => reference);
        for (const id of seen.map(wholeId)) {
          if (id !== undefined) expect(references, `${mode} ${nth}`).to.include(id);
        }
        expect(new Set(references).size, 'no charge twice').to.equal(references.length);
        // The answers in JSON, in a stream, and in the stream that is cut: three at most.
        expect(references.length - charged, `${mode} ${nth}`).to.be.within(2, 3);
        charged = references.length;
        if (!saboteur.hasStruck) {
          expect(seen.map(({ kind, status }) => `${kind} ${status}`)).to.deep.equal(sound);
        }
      } while (saboteur.hasStruck);
      // Five callers and five holds, each of which ended; one more where a release came again.
      expect(nth - 1).to.be.within(15, 16);
    });
  }
});
