import { GatewayError } from '../core/errors.js';
import { shareOf } from './memory-budget.js';
import type { IncomingHttpHeaders } from 'node:http';
import { performance } from 'node:perf_hooks';

/** The requests of accounts with many that go on in one turn of the event loop. */
const STEPS_PER_TURN = 16;
/** So many requests of one account make no turn of the event loop long. */
const FEW = 64;
/** Beside others, accounts with many leave the rest of the event loop's time free. */
const USED_SHARE = 0.9;
/** Many turns, since one in which the collector runs says little. */
const ADJUST_EVERY_MS = 50;
/** How much more, or less, an account may have begun after each adjustment. */
const ADJUST_BY = 1 / 8;
/** So many begin at each adjustment in any case: those begun may be streams of an hour. */
const AT_LEAST = 4;
/** Other accounts count as present for this long after the last sign of them. */
const PRESENT_MS = 1_000;
const RETRY_S = '1';

/** The requests of one account. */
interface AccountRequests {
  readonly id: string;
  /** Those that wait are counted too. */
  in_flight: number;
  /** The texts of the headers that have brought its keys. */
  readonly credentials: Set<string>;
  /** These wait until all others of the account have gone on: so fewer are in memory half done. */
  readonly to_begin: (() => void)[];
  readonly to_go_on: (() => void)[];
}

/** A request, of which nothing but the headers is read. */
interface Arrival {
  readonly headers: IncomingHttpHeaders;
}

/** A request that was counted as it arrived. */
interface Early {
  account: AccountRequests;
  /** When it arrived, as `performance.now` tells it. */
  arrived: number;
}

/**
 * Bounds the requests in flight, and lets accounts go on with theirs in turn: as they begin, and
 * after each wait for the store or an upstream. A request of an account that is alone or has few
 * goes on at once, since work that arrives together costs less together. Beside others:
 *
 * - Few of those of accounts with many go on in each turn of the event loop, one of each account
 *   after another. So a packet of another account is read soon, and its call waits for few of
 *   theirs at each step.
 * - Accounts with many begin no more than leave the event loop a tenth of its time.
 * - A request of theirs waits before anything is made for it, if its credentials are those of
 *   another one in flight: the collector moves what a waiting request holds, and all accounts wait
 *   for the collector.
 *
 * Each process counts its own.
 */
export class AdmissionQueue {
  readonly #accounts = new Map<string, AccountRequests>();
  /** The accounts with many requests in flight, by the credentials that those bring. */
  readonly #many = new Map<string, AccountRequests>();
  readonly #early = new WeakMap<Arrival, Early>();
  /** The accounts of which a request waits that has a turn, the next one first. */
  readonly #turns = new Set<AccountRequests>();
  #in_flight = 0;
  /** The requests of accounts with many that went on in this turn. */
  #steps = 0;
  #isScheduled = false;
  /** When a further account had its last request, and when one may have come. */
  #other_ms = -Infinity;
  #expected_ms = -Infinity;
  /** The accounts whose requests wait to begin until others of theirs have ended. */
  readonly #limited = new Set<AccountRequests>();
  /** What an account may have begun at once, beside others. */
  #window = FEW;
  #adjusting: NodeJS.Timeout | undefined;
  /** When the window was adjusted, and how long the event loop had idled until then. */
  #adjusted = { at_ms: 0, idle_ms: 0 };

  /** `idle_ms` returns the total idle time of the event loop so far. */
  constructor(
    private readonly now_ms = () => performance.now(),
    private readonly idle_ms = () => performance.eventLoopUtilization().idle,
  ) {}

  /** The requests in flight, with those that wait. */
  get size(): number {
    return this.#in_flight;
  }

  /** To be called for each new connection: it may be of a further account. */
  expectOther(): void {
    this.#expected_ms = this.now_ms();
  }

  /**
   * Counts a request that arrives until `leave` or `forget`, if others of its account are many: it
   * may be handled when the promise resolves. Undefined if it is to be handled at once.
   */
  arrive(request: Arrival, max: number): Promise<void> | undefined {
    const account = this.#many.size > 0 && this.#many.get(credentialsOf(request));
    if (!account || !this.#mayHaveOther()) return undefined;
    // `enter` refuses it, in words that its client reads.
    if (this.#isFull(account, max)) return undefined;
    this.#count(account);
    this.#early.set(request, { account, arrived: performance.now() });
    return this.#turnOf(account, account.to_begin) ?? DONE;
  }

  /** When a request arrived that `arrive` has counted. */
  arrivalOf(request: Arrival): number | undefined {
    return this.#early.get(request)?.arrived;
  }

  /** Ends the count of a request that `arrive` has counted, if it never came to `enter`. */
  forget(request: Arrival): void {
    const early = this.#early.get(request);
    this.#early.delete(request);
    if (early) this.leave(early.account.id);
  }

  /**
   * Counts a request until `leave`. Resolves when it may begin; undefined if it may begin at once.
   * Throws `GatewayError` (503) if `max` requests are in flight, or half of them of this account.
   */
  enter(account_id: string, max: number, request: Arrival): Promise<void> | undefined {
    const early = this.#early.get(request);
    if (early?.account.id === account_id) {
      this.#early.delete(request);
      return undefined;
    }
    const account = this.#accounts.get(account_id) ?? newAccount(account_id);
    if (this.#in_flight >= max) throw full('the gateway serves', max);
    const share = shareOfOne(max);
    if (account.in_flight >= share) throw full('one account may have', share);
    this.#accounts.set(account_id, account);
    this.#count(account);
    if (account.in_flight > FEW) this.#know(account, credentialsOf(request));
    return this.#turnOf(account, account.to_begin);
  }

  /** Resolves when a request that `enter` has counted may go on; undefined if it may at once. */
  goOn(account_id: string): Promise<void> | undefined {
    const account = this.#accounts.get(account_id);
    return account && this.#turnOf(account, account.to_go_on);
  }

  /** Ends the count of a request that `enter` has counted. */
  leave(account_id: string): void {
    const account = this.#accounts.get(account_id);
    if (!account) return;
    account.in_flight -= 1;
    this.#in_flight -= 1;
    if (this.#limited.has(account)) this.#wait(account);
    if (account.in_flight > 0) return;
    this.#accounts.delete(account_id);
    for (const credentials of account.credentials) this.#many.delete(credentials);
    // Its next requests may be in its sockets already.
    if (this.#in_flight > 0) this.#other_ms = this.now_ms();
  }

  /** A client may send another header with each request: few are kept. */
  #know(account: AccountRequests, credentials: string): void {
    if (account.credentials.size >= FEW) return;
    account.credentials.add(credentials);
    this.#many.set(credentials, account);
  }

  #isFull({ in_flight }: AccountRequests, max: number): boolean {
    return this.#in_flight >= max || in_flight >= shareOfOne(max);
  }

  #count(account: AccountRequests): void {
    account.in_flight += 1;
    this.#in_flight += 1;
  }

  #turnOf(account: AccountRequests, line: (() => void)[]): Promise<void> | undefined {
    if (account.in_flight <= FEW) return undefined;
    if (this.#turns.size === 0) {
      if (!this.#mayHaveOther()) return undefined;
      const mayStep = line === account.to_go_on || this.#hasRoom(account, 1);
      if (mayStep && this.#steps < STEPS_PER_TURN) {
        this.#countStep();
        return undefined;
      }
    }
    return new Promise((resolve) => {
      line.push(resolve);
      this.#wait(account);
    });
  }

  /** Gives an account a turn after all others, if it has a request that may step. */
  #wait(account: AccountRequests): void {
    const { to_go_on, to_begin } = account;
    const mayBegin = to_begin.length > 0 && this.#hasRoom(account, 0);
    if (to_go_on.length > 0 || mayBegin) {
      this.#turns.add(account);
      this.#schedule();
    }
    if (to_begin.length === 0 || mayBegin) this.#limited.delete(account);
    else this.#limited.add(account);
    if (to_begin.length > 0) this.#startAdjusting();
  }

  /** Whether an account may begin one more; `counted` of those begun are that one. */
  #hasRoom(account: AccountRequests, counted: 0 | 1): boolean {
    return begunOf(account) - counted < this.#window || !this.#hasOther();
  }

  #startAdjusting(): void {
    if (this.#adjusting) return;
    this.#adjusted = { at_ms: this.now_ms(), idle_ms: this.idle_ms() };
    this.#adjusting = setInterval(() => this.#adjust(), ADJUST_EVERY_MS).unref();
  }

  /** Lets accounts begin more while the event loop idles, and less while it does not. */
  #adjust(): void {
    const limited = [...this.#limited];
    if (limited.length + this.#turns.size === 0) {
      clearInterval(this.#adjusting);
      this.#adjusting = undefined;
      return;
    }
    const [at_ms, idle_ms] = [this.now_ms(), this.idle_ms()];
    const used = 1 - (idle_ms - this.#adjusted.idle_ms) / (at_ms - this.#adjusted.at_ms);
    this.#adjusted = { at_ms, idle_ms };
    if (used >= USED_SHARE) this.#window = Math.max(FEW, this.#window * (1 - ADJUST_BY));
    else if (limited.length > 0) {
      this.#window = Math.max(this.#window, ...limited.map(begunOf)) * (1 + ADJUST_BY);
    }
    for (const account of limited) {
      for (const begin of account.to_begin.splice(0, AT_LEAST)) begin();
      this.#wait(account);
    }
  }

  /** Whether a further account has requests, or had one just now. */
  #hasOther(): boolean {
    return this.#accounts.size > 1 || this.now_ms() - this.#other_ms < PRESENT_MS;
  }

  /** Whether one has them, or a connection is new that may bring one. */
  #mayHaveOther(): boolean {
    return this.#hasOther() || this.now_ms() - this.#expected_ms < PRESENT_MS;
  }

  #countStep(): void {
    this.#steps += 1;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#runTurn());
  }

  #runTurn(): void {
    this.#isScheduled = false;
    this.#steps = 0;
    for (const account of this.#turns) {
      if (this.#steps >= STEPS_PER_TURN) break;
      this.#turns.delete(account);
      const { to_begin, to_go_on } = account;
      const step = to_go_on.shift() ?? (this.#hasRoom(account, 0) ? to_begin.shift() : undefined);
      this.#wait(account);
      if (!step) continue;
      this.#countStep();
      step();
    }
  }
}

const DONE = Promise.resolve();

function newAccount(id: string): AccountRequests {
  return { id, in_flight: 0, credentials: new Set(), to_begin: [], to_go_on: [] };
}

/** The requests of an account that do not wait to begin. */
function begunOf({ in_flight, to_begin }: AccountRequests): number {
  return in_flight - to_begin.length;
}

/** The headers in which keys come, as they are written. */
function credentialsOf({ headers }: Arrival): string {
  const { authorization, 'x-api-key': key, 'x-goog-api-key': google_key } = headers;
  return [authorization, key, google_key].join(' ');
}

/** What one account may have of all. */
function shareOfOne(max: number): number {
  return Math.max(1, Math.floor(shareOf(max)));
}

function full(sentence: string, max: number): GatewayError {
  return new GatewayError(
    'overloaded',
    `The requests in flight are as many as ${sentence} at once (${max}): try again in a moment.`,
    { headers: { 'retry-after': RETRY_S } },
  );
}
