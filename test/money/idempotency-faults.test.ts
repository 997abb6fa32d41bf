import { expect } from 'chai';
import type { Store } from '../../src/store/store-types.js';
import type { Answer } from '../helpers/ask.js';
import { until } from '../helpers/until.js';
import { chatJson, play } from '../helpers/upstream.js';
import { onEachStore } from '../store/helpers/ground.js';
import {
  closeAndAudit,
  HELLO,
  startScriptedGateway,
  ready,
  type ScriptedGateway,
} from './helpers/scripted-gateway.js';
import { repeat } from './helpers/idempotent-request.js';

const STORE = ['caller', 'hold', 'charge', 'release', 'admit'] as const;
const KEYS = ['begin', 'answer', 'forget'] as const;

/** A failure that leaves the act undone, and one that hides that it was done. */
type Mode = 'before' | 'after';

/** Makes one act fail, of the store or of an upstream: the nth from now. */
class Saboteur {
  acts: string[] = [];
  #left = Infinity;
  #mode: Mode = 'before';

  watch(store: Store): void {
    for (const name of STORE) this.#watch(store, name);
    for (const name of KEYS) this.#watch(store.idempotency, name);
  }

  arm(nth: number, mode: Mode): void {
    this.acts = [];
    this.#left = nth;
    this.#mode = mode;
  }

  get hasStruck(): boolean {
    return this.#left <= 0;
  }

  /** Whether it strikes now. */
  strikes(name: string): boolean {
    this.acts.push(name);
    this.#left -= 1;
    return this.#left === 0;
  }

  #watch<T extends object>(owner: T, name: keyof T & string): void {
    const act = (owner[name] as (...args: unknown[]) => Promise<unknown>).bind(owner);
    const sabotaged = async (...args: unknown[]): Promise<unknown> => {
      const strikes = this.strikes(name);
      if (strikes && this.#mode === 'before') throw new Error(`disk on fire at ${name}`);
      const done = await act(...args);
      if (strikes) throw new Error(`disk on fire after ${name}`);
      return done;
    };
    Object.assign(owner, { [name]: sabotaged });
  }
}

/** The acts of a call that its upstream refuses, and then of one that is answered. */
const USUAL = (isPaid: boolean): string[] =>
  isPaid
    ? [...BEGUN, 'hold', 'upstream', 'release', 'forget', ...BEGUN, 'hold', 'upstream', 'charge']
    : [...BEGUN, 'admit', 'upstream', 'forget', ...BEGUN, 'admit', 'upstream', 'answer'];
const BEGUN = ['caller', 'begin'];

const idOf = ({ text }: Answer): string | undefined => /"id":"chatcmpl-([^"]+)"/u.exec(text)?.[1];

/** What a client does that wants its answer: it repeats itself until it is there. */
async function insist(
  house: ScriptedGateway,
  key: string,
): Promise<{ answer: Answer; tries: number }> {
  const end = Date.now() + 60_000;
  for (let tries = 1; ; tries += 1) {
    const answer = await repeat(house, key);
    if (answer.status === 200) return { answer, tries };
    expect(answer.status, answer.text).to.be.oneOf([409, 500, 502]);
    expect(answer.text).to.not.include('on fire');
    if (Date.now() > end) throw new Error(`It never came: ${answer.text}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

onEachStore('an idempotent request repeated until it is answered', (ground) => {
  let house: ScriptedGateway;
  let saboteur: Saboteur;
  let made: number;

  const open = async (price?: string): Promise<void> => {
    made = 0;
    saboteur = new Saboteur();
    const store = JSON.stringify(ground.place.url);
    house = await startScriptedGateway(
      {
        up: async (_received, response) => {
          const strikes = saboteur.strikes('upstream');
          made += 1;
          if (strikes) return play({ destroyAfter: -1 }, response);
          // The first that is asked of it is always refused, and not by the saboteur.
          return play(made === 1 ? { status: 500 } : chatJson(`Hello ${made}`), response);
        },
      },
      { store, ...(price && { price }) },
    );
    saboteur.watch(house.gateway.store);
  };
  afterEach(() => closeAndAudit(house));

  for (const [what, price] of [
    ['charged', undefined],
    ['answered by a free model', 'free'],
  ] as const) {
    for (const mode of ['before', 'after'] as const) {
      it(`is ${what} once, though any store call fails ${mode} it acts`, async () => {
        await open(price);
        const isPaid = price === undefined;
        let nth = 0;
        let hasStruck: boolean;
        do {
          nth += 1;
          made = 0;
          saboteur.arm(nth, mode);
          const { answer, tries } = await insist(house, `key ${nth}`);
          ({ hasStruck } = saboteur);
          const { acts } = saboteur;
          // What could not be given back at once is given back by and by.
          const isLate = ['release', 'forget'].includes(acts[nth - 1] ?? '');
          await until(() => !isLate || acts.includes('forget', nth), 'the key is forgotten');
          const moment = `${mode} ${acts[nth - 1]}, act ${nth}`;
          if (!hasStruck) expect([tries, acts]).to.deep.equal([2, USUAL(isPaid)]);
          saboteur.arm(Infinity, mode);
          await house.settled();
          await ready(house);
          const charges = await house.charges();
          expect(charges, moment).to.have.length(isPaid ? nth : 0);
          const again = await repeat(house, `key ${nth}`);
          expect(again.text, moment).to.equal(answer.text);
          expect(again.headers.get('idempotent-replayed')).to.equal('true');
          // A charge from the journal may be entered meanwhile.
          const acts_now = saboteur.acts.filter((act) => act !== 'charge');
          expect(acts_now, moment).to.deep.equal(['caller', 'begin']);
          if (isPaid) expect(charges.at(-1)?.reference, moment).to.equal(idOf(answer));
        } while (hasStruck);
        expect(nth - 1).to.equal(USUAL(isPaid).length);
      });
    }
  }

  it('is answered, and charged once, though the store fails at the charge', async () => {
    await open();
    made = 1;
    saboteur.arm(5, 'after');
    const first = await repeat(house, 'k', HELLO);
    expect(first.status).to.equal(200);
    const again = await repeat(house, 'k', HELLO);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(again.text).to.include('Hello 2');
    expect(house.upstream.requests).to.have.length(1);
    expect(await house.charges()).to.have.length(1);
  });
});
