import { GatewayError } from '../core/errors.js';
import { shareOf } from './memory-budget.js';

/** The requests of accounts with many that go on in one turn of the event loop. */
const STEPS_PER_TURN = 16;
/** So many requests of one account make no turn of the event loop long. */
const FEW = 128;
/** Other accounts count as present for this long after the last sign of them. */
const PRESENT_MS = 1_000;
const RETRY_S = '1';

/** The requests of one account. */
interface AccountRequests {
  /** Those that wait are counted too. */
  in_flight: number;
  /** These wait until all others of the account have gone on: so fewer are in memory half done. */
  readonly to_begin: (() => void)[];
  readonly to_go_on: (() => void)[];
}

/**
 * Bounds the requests in flight, and lets accounts go on with theirs in turn: as they begin, and
 * after each wait for the store or an upstream. A request of an account that is alone or has few
 * goes on at once, since work that arrives together costs less together. Beside others, few of
 * those of accounts with many go on in each turn of the event loop, one of each account after
 * another. The turns are short then, so a packet of another account is read soon, and its call
 * waits for few of theirs at each step. Each process counts its own.
 */
export class AdmissionQueue {
  readonly #accounts = new Map<string, AccountRequests>();
  /** The accounts that have requests waiting, the next one first. */
  readonly #turns = new Set<AccountRequests>();
  #in_flight = 0;
  /** The requests of accounts with many that went on in this turn. */
  #steps = 0;
  #isScheduled = false;
  /** When there was the last sign of a further account. */
  #other_ms = -Infinity;

  constructor(private readonly now_ms = () => performance.now()) {}

  /** The requests in flight, with those that wait. */
  get size(): number {
    return this.#in_flight;
  }

  /** To be called for each new connection: it may be of a further account. */
  expectOther(): void {
    this.#other_ms = this.now_ms();
  }

  /**
   * Counts a request until `leave`. Resolves when it may begin; undefined if it may begin at once.
   * Throws `GatewayError` (503) if `max` requests are in flight, or half of them of this account.
   */
  enter(account_id: string, max: number): Promise<void> | undefined {
    const account = this.#accounts.get(account_id) ?? { in_flight: 0, to_begin: [], to_go_on: [] };
    if (this.#in_flight >= max) throw full('the gateway serves', max);
    const share = Math.max(1, Math.floor(shareOf(max)));
    if (account.in_flight >= share) throw full('one account may have', share);
    this.#accounts.set(account_id, account);
    account.in_flight += 1;
    this.#in_flight += 1;
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
    if (account.in_flight > 0) return;
    this.#accounts.delete(account_id);
    // Its next requests may be in its sockets already.
    if (this.#in_flight > 0) this.expectOther();
  }

  #turnOf(account: AccountRequests, line: (() => void)[]): Promise<void> | undefined {
    if (account.in_flight <= FEW) return undefined;
    if (this.#turns.size === 0) {
      if (!this.#hasOther()) return undefined;
      if (this.#steps < STEPS_PER_TURN) {
        this.#countStep();
        return undefined;
      }
    }
    return new Promise((resolve) => {
      line.push(resolve);
      this.#turns.add(account);
      this.#schedule();
    });
  }

  #hasOther(): boolean {
    return this.#accounts.size > 1 || this.now_ms() - this.#other_ms < PRESENT_MS;
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
      const step = to_go_on.shift() ?? to_begin.shift();
      // At the end of the set, behind all other accounts.
      if (to_go_on.length + to_begin.length > 0) this.#turns.add(account);
      if (!step) continue;
      this.#countStep();
      step();
    }
  }
}

function full(sentence: string, max: number): GatewayError {
  return new GatewayError(
    'overloaded',
    `The requests in flight are as many as ${sentence} at once (${max}): try again in a moment.`,
    { headers: { 'retry-after': RETRY_S } },
  );
}
