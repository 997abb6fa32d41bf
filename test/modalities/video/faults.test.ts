import { expect } from 'chai';
import type { Store } from '../../../src/store/store-types.js';
import type { TaskStore } from '../../../src/store/tasks/task-types.js';
import { ask } from '../../helpers/ask.js';
import { isLong } from '../../helpers/long.js';
import { onEachStore } from '../../store/helpers/ground.js';
import {
  dollars,
  MODEL,
  startVideoGateway,
  submitTo,
  type VideoGateway,
} from './helpers/video-gateway.js';

const STORE = ['hold', 'charge', 'release'] as const;
const TASKS = [
  'begin',
  'retarget',
  'accept',
  'fail',
  'task',
  'claim',
  'advance',
  'charge',
] as const;
const COST = dollars(0.2);
const DAYS_MS = 2 * 24 * 3_600_000;

/** `before` leaves the last act undone, `after` does it and dies before anyone hears of it. */
type Moment = 'before' | 'after';

/** Ends the life of a gateway at its nth act: from then on nothing that it does reaches the store. */
class Death {
  acts: string[] = [];
  #left: number;

  constructor(
    nth: number,
    readonly moment: Moment,
  ) {
    this.#left = nth;
  }

  get hasCome(): boolean {
    return this.#left <= 0;
  }

  /** Something outside the store has happened, such as a call to the upstream. */
  pass(name: string): void {
    if (this.hasCome) return;
    this.#left -= 1;
    this.acts.push(name);
  }

  watch(store: Store): void {
    for (const name of STORE) Object.assign(store, { [name]: this.#watched(store, name) });
    const { tasks } = store;
    for (const name of TASKS) Object.assign(tasks, { [name]: this.#watched(tasks, name) });
  }

  #watched<T extends Store | TaskStore>(owner: T, name: keyof T & string) {
    const act = (owner[name] as (...args: unknown[]) => Promise<unknown>).bind(owner);
    return async (...args: unknown[]): Promise<unknown> => {
      if (this.hasCome) throw new Error('The process is dead.');
      this.pass(name);
      if (!this.hasCome) return act(...args);
      if (this.moment === 'after') await act(...args);
      throw new Error(`The process died at ${name}.`);
    };
  }
}

interface Seen {
  id: string | undefined;
  contents: Set<string>;
}

/** One life of a client: what it was told, until it was told nothing any more. */
async function life(at: { url: string; secret: string }, known?: string): Promise<Seen> {
  const contents = new Set<string>();
  let id = known;
  if (id === undefined) {
    const body = { prompt: 'x', parameters: { duration_seconds: 1 } };
    const { status, text } = await submitTo(at, body, MODEL, {});
    if (status === 202) ({ request_id: id } = JSON.parse(text) as { request_id: string });
  }
  for (const end of id === undefined ? [] : ['/status', '', '']) {
    const { status, text } = await ask(at, `/v1/queue/${MODEL}/requests/${id}${end}`);
    const { data } = (status === 200 ? JSON.parse(text) : {}) as { data?: { url: string }[] };
    if (data?.[0]) contents.add(data[0].url);
  }
  return { id, contents };
}

onEachStore('a video task whose gateway dies', (ground, name) => {
  let studio: VideoGateway;
  // The acts are the same ones on both stores.
  const moments =
    isLong || name === 'SQLite' ? (['before', 'after'] as const) : (['after'] as const);
  for (const moment of moments) {
    it(`is neither lost nor charged twice, ${moment} every act`, async () => {
      const deaths = new Set<string>();
      studio = await startVideoGateway({
        credit: '1000',
        store: `"${ground.place.url}"`,
        // So that what the key holds and has spent must add up as well.
        terms: { limit_nano: dollars(900) },
      });
      try {
        for (let nth = 1; ; nth += 1) {
          const death = new Death(nth, moment);
          await dieAndLiveOn(death);
          if (!death.hasCome) break;
          deaths.add(death.acts.at(-1) ?? '');
        }
      } finally {
        // Before the database is gone.
        await studio.close();
      }
      // Not every act, but each of those that a task cannot do without.
      expect([...deaths]).to.include.members([
        'hold',
        'begin',
        'upstream submit',
        'accept',
        'claim',
        'upstream poll',
        'advance',
        'charge',
      ]);
    });
  }

  async function dieAndLiveOn(death: Death): Promise<void> {
    const { lab } = studio;
    const before = { ...(await studio.books()), films: lab.films.length };
    const tasks = new Set(
      (await studio.gateway.store.tasks.list({ limit: 1e6 })).map(({ id }) => id),
    );
    const where = (): string => `${death.moment} ${death.acts.join(', ')}`;
    lab.onSubmit = () => {
      death.pass('upstream submit');
      return undefined;
    };
    const onPoll = lab.onPoll;
    lab.onPoll = (film, nth) => {
      death.pass('upstream poll');
      return onPoll(film, nth);
    };

    const victim = await studio.another();
    death.watch(victim.gateway.store);
    const first = await life(victim);
    await victim.close();
    lab.onPoll = onPoll;
    lab.onSubmit = undefined;
    expect((await studio.books()).faults, where()).to.deep.equal([]);

    const heir = await studio.another();
    try {
      const made = (await heir.gateway.store.tasks.list({ limit: 1e6 })).filter(
        ({ id }) => !tasks.has(id),
      );
      // What the upstream has taken is known, whether or not the client has heard of it.
      expect(made.length, where()).to.be.at.least(lab.films.length - before.films);
      expect(
        made.filter(({ status }) => status === 'SUBMITTING'),
        where(),
      ).to.deep.equal([]);
      if (first.id !== undefined) {
        studio.now_ms += 2_000;
        const second = await life(heir, first.id);
        expect(new Set([...first.contents, ...second.contents]).size, where()).to.equal(1);
      }
      const { charges, faults, balance } = await studio.books();
      expect(faults, where()).to.deep.equal([]);
      const paid = first.id === undefined ? 0n : COST;
      expect(before.balance - balance, where()).to.equal(paid);
      expect(charges.length - before.charges.length, where()).to.equal(paid === 0n ? 0 : 1);
      studio.now_ms += DAYS_MS;
      const keep_ms = 1;
      await heir.gateway.store.tasks.sweep(keep_ms);
      studio.now_ms += keep_ms;
      await heir.gateway.store.tasks.sweep(keep_ms);
      expect(await studio.books(), where()).to.deep.include({ held: 0n, faults: [] });
    } finally {
      await heir.close();
    }
  }
});
