import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { RequestRecord } from '../core/request-record.js';
import { isRefused } from '../store/store-error.js';
import type { Adopted, Journal } from '../store/journal/journal.js';
import type { JournalEntry } from '../store/journal/journal-format.js';
import type { Collected, Store } from '../store/store-types.js';
import { formatDollars } from '../lib/money.js';

const SHORTEST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;
/** Charges that are entered concurrently; the store commits them together. */
const BATCH = 64;
/** The most releases that wait. More are left to the recovery after a restart. */
const MAX_RELEASES = 10_000;

interface Waiting extends JournalEntry {
  /** The adopted file that holds it; undefined for this process's own. */
  path: string | undefined;
  /** The record that is written with the charge, as only then is known what was collected. */
  record?: RequestRecord | undefined;
}

interface BacklogOptions {
  store: Store;
  journal: Journal;
  log: Logger;
  random: () => number;
}

/** Charges that wait in the journal for the store, and releases that wait in memory. */
export class Backlog {
  readonly #waiting = new Set<Waiting>();
  /** The number of waiting charges of each adopted file. */
  readonly #adopted = new Map<string, number>();
  readonly #releases = new Map<string, () => Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<boolean> | undefined;
  #rounds = 0;
  #isClosed = false;

  /** `wrote` is called after each write to the store, with its error if it failed. */
  constructor(
    private readonly options: BacklogOptions,
    private readonly wrote: (error?: unknown) => void,
  ) {}

  get size(): number {
    return this.#waiting.size;
  }

  /** The requests whose charges wait. */
  get requests(): string[] {
    return Array.from(this.#waiting, ({ charge }) => charge.request_id);
  }

  /** Resolves when the charge is in the journal or in the store. Rejects if it is in neither. */
  async add(entry: JournalEntry, cause: unknown, record?: RequestRecord): Promise<void> {
    const { log } = this.options;
    const waiting: Waiting = { ...entry, path: undefined, record };
    this.#waiting.add(waiting);
    try {
      await this.#append(entry);
      const { request_id } = entry.charge;
      log.warn({ request_id, err: cause }, 'a charge waits in the journal for the store');
    } catch (err) {
      // The store may have taken it meanwhile.
      if (!this.#waiting.delete(waiting)) return;
      const known = { ...plain(entry), store_fault: String(cause), err };
      log.error(known, 'a charge can be kept nowhere: enter it by hand');
      throw new Error('The charge can be kept neither in the store nor in the journal.', {
        cause: err,
      });
    } finally {
      this.#tidy();
      this.#schedule();
    }
  }

  retryRelease(request_id: string, release: () => Promise<void>): void {
    const { log } = this.options;
    if (this.#releases.size < MAX_RELEASES) this.#releases.set(request_id, release);
    else log.error({ request_id }, 'a hold stays until a restart: too many wait to be released');
    this.#schedule();
  }

  /** Resolves with false if charges of ended processes still wait. */
  async adopt(): Promise<boolean> {
    const { store, journal, log } = this.options;
    const isKnown = async (id: string): Promise<boolean> => (await store.account(id)) !== undefined;
    const adopted = await journal.adopt(isKnown);
    for (const one of adopted) this.#take(one);
    if (this.#adopted.size > 0) await this.#enterAll();
    const isDone = this.#adopted.size === 0;
    if (!isDone) log.warn('charges of an ended process wait in its journal: its holds stay');
    return isDone;
  }

  async close(limit_ms: number): Promise<void> {
    const end_ms = performance.now() + limit_ms;
    while ((this.size > 0 || this.#releases.size > 0) && !(await this.#enterAll())) {
      if (performance.now() > end_ms) break;
      await sleep(SHORTEST_WAIT_MS);
    }
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#releases.clear();
    const { journal, log } = this.options;
    for (const path of this.#adopted.keys()) journal.leave(path);
    if (this.size > 0) log.error({ charges: this.size }, 'charges stay in the journal');
    await journal.close(this.#isOwnEmpty());
  }

  /** Appends the charge. If the answer is too large for the journal, appends the charge alone. */
  async #append(entry: JournalEntry): Promise<void> {
    const { journal } = this.options;
    const { charge, answered } = entry;
    try {
      await journal.append(entry);
    } catch (error) {
      if (!answered?.answer) throw error;
      await journal.append({ charge, answered: { ...answered, answer: null } });
    }
  }

  #take({ path, entries, damaged }: Adopted): void {
    const { log } = this.options;
    if (damaged > 0) log.error({ path, damaged }, 'lines of a journal are not whole, so left out');
    if (entries.length === 0) return;
    log.warn({ path, charges: entries.length }, 'took over the journal of an ended process');
    this.#adopted.set(path, entries.length);
    for (const entry of entries) this.#waiting.add({ ...entry, path });
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer || (this.size === 0 && this.#releases.size === 0)) return;
    const longest_ms = Math.min(SHORTEST_WAIT_MS * 2 ** this.#rounds, LONGEST_WAIT_MS);
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        void this.#enterAll();
      },
      longest_ms * (0.5 + this.options.random() / 2),
    );
    this.#timer.unref();
  }

  /** Enters all that waits, one round at a time. Resolves with true if nothing waits any more. */
  #enterAll(): Promise<boolean> {
    this.#round ??= this.#enterSome().finally(() => {
      this.#round = undefined;
      this.#schedule();
    });
    return this.#round;
  }

  /** The first charge is entered alone, to find out whether the store is back. */
  async #enterSome(): Promise<boolean> {
    this.#rounds += 1;
    try {
      const all = [...this.#waiting];
      for (let at = 0; at < all.length; at += at === 0 ? 1 : BATCH) {
        const some = all.slice(at, at === 0 ? 1 : at + BATCH);
        const ended = await Promise.allSettled(some.map((one) => this.#enter(one)));
        const failed = ended.find(({ status }) => status === 'rejected');
        if (failed?.status === 'rejected') throw failed.reason;
      }
      for (const [request_id, release] of this.#releases) await this.#repeat(request_id, release);
    } catch (error) {
      this.wrote(error);
      return false;
    }
    this.#rounds = 0;
    return this.size === 0 && this.#releases.size === 0;
  }

  async #repeat(request_id: string, release: () => Promise<void>): Promise<void> {
    try {
      await release();
      this.wrote();
    } catch (err) {
      if (!isRefused(err)) throw err;
      this.options.log.error({ request_id, err }, 'the store refuses to release a hold');
    }
    this.#releases.delete(request_id);
  }

  async #enter(waiting: Waiting): Promise<void> {
    const { log } = this.options;
    const { charge, path } = waiting;
    try {
      const collected = await this.#charge(waiting);
      this.wrote();
      const { request_id, model } = charge;
      log.info({ request_id }, 'entered a charge from the journal');
      if (collected && collected.uncollected_nano > 0n) {
        const uncollected = formatDollars(collected.uncollected_nano);
        log.warn({ request_id, model, uncollected }, 'an answer cost more than could be collected');
      }
    } catch (err) {
      if (!isRefused(err)) throw err;
      log.error({ ...plain(waiting), err }, 'the store refuses a charge: enter it by hand');
    }
    this.#waiting.delete(waiting);
    if (path === undefined) this.#tidy();
    else await this.#countDown(path);
  }

  async #countDown(path: string): Promise<void> {
    const left = (this.#adopted.get(path) ?? 0) - 1;
    if (left > 0) {
      this.#adopted.set(path, left);
      return;
    }
    this.#adopted.delete(path);
    await this.options.journal.remove(path);
  }

  /**
   * If another request has taken the idempotency key, enters the charge alone: the answer was sent.
   */
  async #charge({ charge, answered, record }: Waiting): Promise<Collected | false> {
    const { store } = this.options;
    try {
      return await store.charge(charge, answered, record);
    } catch (error) {
      if (!answered || !isRefused(error)) throw error;
      return store.charge(charge, undefined, record);
    }
  }

  #tidy(): void {
    const isEmpty = (): boolean => this.#isOwnEmpty();
    if (isEmpty()) this.options.journal.clear(isEmpty);
  }

  #isOwnEmpty(): boolean {
    let adopted = 0;
    for (const count of this.#adopted.values()) adopted += count;
    return this.#waiting.size === adopted;
  }
}

/** The charge as JSON can hold it, for the log. */
function plain({ charge }: JournalEntry): object {
  return Object.fromEntries(
    Object.entries(charge).map(([key, value]: [string, unknown]) => [
      key,
      typeof value === 'bigint' ? String(value) : value,
    ]),
  );
}
