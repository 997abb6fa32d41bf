import { GatewayError } from '../core/errors.js';
import { shareOf } from './memory-budget.js';

/** The requests that go on in one turn of the event loop while several accounts have some. */
const STEPS_PER_TURN = 8;
const RETRY_S = '1';

/** The requests of one account. */
interface AccountRequests {
  /** Those that wait to begin are counted too. */
  in_flight: number;
  waiting: (() => void)[];
}

/**
 * Bounds the requests in flight, and lets accounts go on with theirs in turn: as they begin, and as
 * their upstream has answered. While one account alone has requests, each goes on at once, since
 * work that arrives together costs less together. While several have some, few go on in each turn
 * of the event loop, one of each account after another, so that the calls of one wait for few of
 * another's, however many those are. Each process counts its own.
 */
export class AdmissionQueue {
  readonly #accounts = new Map<string, AccountRequests>();
  /** The accounts that have requests waiting, the next one first. */
  readonly #turns = new Set<AccountRequests>();
  #in_flight = 0;
  #begun = 0;
  #isScheduled = false;

  /** The requests in flight, with those that wait. */
  get size(): number {
    return this.#in_flight;
  }

  /**
   * Counts a request until `leave`. Resolves when it may begin; undefined if it may begin at once.
   * Throws `GatewayError` (503) if `max` requests are in flight, or half of them of this account.
   */
  enter(account_id: string, max: number): Promise<void> | undefined {
    const account = this.#accounts.get(account_id) ?? { in_flight: 0, waiting: [] };
    if (this.#in_flight >= max) throw full('the gateway serves', max);
    const share = Math.max(1, Math.floor(shareOf(max)));
    if (account.in_flight >= share) throw full('one account may have', share);
    this.#accounts.set(account_id, account);
    account.in_flight += 1;
    this.#in_flight += 1;
    return this.#turnOf(account);
  }

  /** Resolves when a request that `enter` has counted may go on; undefined if it may at once. */
  goOn(account_id: string): Promise<void> | undefined {
    const account = this.#accounts.get(account_id);
    return account && this.#turnOf(account);
  }

  #turnOf(account: AccountRequests): Promise<void> | undefined {
    if (this.#accounts.size === 1) return undefined;
    if (this.#turns.size === 0 && this.#begun < STEPS_PER_TURN) {
      this.#count();
      return undefined;
    }
    return new Promise((resolve) => {
      account.waiting.push(resolve);
      this.#turns.add(account);
      this.#schedule();
    });
  }

  /** Ends the count of a request that `enter` has counted. */
  leave(account_id: string): void {
    const account = this.#accounts.get(account_id);
    if (!account) return;
    account.in_flight -= 1;
    this.#in_flight -= 1;
    if (account.in_flight === 0) this.#accounts.delete(account_id);
  }

  #count(): void {
    this.#begun += 1;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#beginSome());
  }

  #beginSome(): void {
    this.#isScheduled = false;
    this.#begun = 0;
    for (const account of this.#turns) {
      if (this.#begun >= STEPS_PER_TURN) break;
      this.#turns.delete(account);
      const begin = account.waiting.shift();
      // At the end of the set, behind all other accounts.
      if (account.waiting.length > 0) this.#turns.add(account);
      if (!begin) continue;
      this.#count();
      begin();
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
