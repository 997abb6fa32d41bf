import {
  isCalendarWindow,
  windowDurationMs,
  type AllowanceState,
  type AllowanceWindow,
} from '../../../src/core/limits.js';
import type { PlainCalendar } from './plain-calendar.js';

/** The account, or one of its two keys. The second key has a limit for life. */
export type Owner = 'account' | 'key0' | 'key1';

export const LIMIT_NANO = 120n;
export const CREDIT_NANO = 400n;

/** One allowance; its identity is that of the row, which is new after it was taken away. */
interface PlainAllowance extends AllowanceState {
  owner: Owner;
}

interface PlainHold {
  key: 'key0' | 'key1';
  amount_nano: bigint;
  process: 'steady' | 'shaky' | 'gone' | 'task';
  windows: [allowance: PlainAllowance, begins_ms: number][];
}

export interface HoldStep {
  key: 'key0' | 'key1';
  request: number;
  amount: number;
  is_shaky: boolean;
}

export interface ChargeStep {
  key: 'key0' | 'key1';
  request: number;
  cost: number;
  /** Whether the charge names the windows of its hold. */
  is_named: boolean;
}

/** An account with its keys and their allowances, in the simplest words. */
export class PlainModel {
  balance_nano = CREDIT_NANO;
  spent_nano = 0n;
  /** In the order in which they were set. */
  readonly allowances: PlainAllowance[] = [];
  readonly holds = new Map<number, PlainHold>();
  readonly charged = new Set<number>();
  /** The windows of the last hold of each request, which its charge names. */
  readonly named = new Map<number, PlainHold['windows']>();

  constructor(private readonly calendar: PlainCalendar) {}

  set(owner: Owner, window: AllowanceWindow, amount_nano: bigint | null): void {
    const at = this.#indexOf(owner, window);
    const found = this.allowances[at];
    if (amount_nano === null && found) this.allowances.splice(at, 1);
    else if (amount_nano !== null && found) found.amount_nano = amount_nano;
    else if (amount_nano !== null) {
      const none = { extra_nano: 0n, extra_until_ms: null, spent_nano: 0n, held_nano: 0n };
      const times = { begins_ms: 0, ends_ms: 0 };
      this.allowances.push({ owner, window, amount_nano, ...none, ...times });
    }
  }

  /** False if there is no such allowance to raise. */
  raise(owner: Owner, window: AllowanceWindow, by_nano: bigint, until_ms: number): boolean {
    const found = this.allowances[this.#indexOf(owner, window)];
    if (!found) return false;
    found.extra_nano = by_nano;
    found.extra_until_ms = by_nano === 0n ? null : until_ms;
    return true;
  }

  #indexOf(owner: Owner, window: AllowanceWindow): number {
    return this.allowances.findIndex((one) => one.owner === owner && one.window === window);
  }

  hold({ key, request, amount, is_shaky }: HoldStep, now_ms: number): unknown {
    const amount_nano = BigInt(amount);
    const held_nano = this.#held('key1');
    if (key === 'key1' && LIMIT_NANO - this.spent_nano - held_nano < amount_nano) {
      const figures = { limit_nano: LIMIT_NANO, spent_nano: this.spent_nano, held_nano };
      return { admitted: false, because: 'limit', ...figures };
    }
    const counted = this.allowances.filter(({ owner }) => owner === 'account' || owner === key);
    const states = counted.map((one) => ({ one, state: this.stateOf(one, now_ms) }));
    const full = states
      .filter(({ state }) => totalOf(state) - state.spent_nano - state.held_nano < amount_nano)
      .map(({ one, state }) => ({ ...state, owner: one.owner === 'account' ? 'account' : 'key' }))
      .toSorted((one, other) => other.ends_ms - one.ends_ms)[0];
    if (full) {
      const { owner, window, spent_nano, held_nano: held, ends_ms } = full;
      const figures = { amount_nano: totalOf(full), spent_nano, held_nano: held, ends_ms };
      return { admitted: false, because: 'allowance', owner, window, ...figures };
    }
    const { balance_nano } = this;
    if (balance_nano - this.#held() < amount_nano) {
      return { admitted: false, because: 'balance', balance_nano, held_nano: this.#held() };
    }
    if (this.holds.has(request)) return 'refused';
    for (const { one, state } of states) Object.assign(one, state);
    for (const one of counted) one.held_nano += amount_nano;
    const windows = counted.map((one): [PlainAllowance, number] => [one, one.begins_ms]);
    const process = is_shaky ? 'shaky' : 'steady';
    this.holds.set(request, { key, amount_nano, process, windows });
    this.named.set(request, windows);
    return { admitted: true, counts: windows.length > 0 };
  }

  /** What a row says at this time, before a hold begins its next window. */
  stateOf(one: PlainAllowance, now_ms: number): PlainAllowance {
    const isRaised = one.extra_until_ms !== null && one.extra_until_ms > now_ms;
    const extra = isRaised ? {} : { extra_nano: 0n, extra_until_ms: null };
    if (one.ends_ms > now_ms) return { ...one, ...extra };
    const duration_ms = windowDurationMs(one.window) ?? NaN;
    const [begins_ms, ends_ms] = isCalendarWindow(one.window)
      ? this.calendar.span(one.window, now_ms)
      : [now_ms, now_ms + duration_ms];
    return { ...one, ...extra, spent_nano: 0n, held_nano: 0n, begins_ms, ends_ms };
  }

  charge({ key, request, cost, is_named }: ChargeStep, now_ms: number): unknown {
    const hold = this.#end(request);
    const named = is_named ? this.named.get(request) : undefined;
    const windows = (hold?.windows ?? named ?? []).filter(
      ([one, begins_ms]) => one.begins_ms === begins_ms && this.allowances.includes(one),
    );
    if (this.charged.has(request)) return false;
    this.charged.add(request);
    const cost_nano = BigInt(cost);
    const bears = [cost_nano, this.balance_nano - this.#held()];
    const isLimited = key === 'key1';
    if (isLimited) bears.push(LIMIT_NANO - this.spent_nano - this.#held('key1'));
    const own_nano = hold?.amount_nano ?? 0n;
    for (const [one] of windows) {
      // What the hold set aside is its own, and the rest of the window is for all.
      const left_nano = this.#totalAt(one, now_ms) - one.spent_nano - one.held_nano - own_nano;
      bears.push(own_nano + (left_nano > 0n ? left_nano : 0n));
    }
    const least_nano = bears.reduce((least, one) => (one < least ? one : least));
    const collected_nano = least_nano > 0n ? least_nano : 0n;
    this.balance_nano -= collected_nano;
    if (isLimited) this.spent_nano += collected_nano;
    for (const [one] of windows) one.spent_nano += collected_nano;
    return { uncollected_nano: cost_nano - collected_nano };
  }

  #totalAt(one: PlainAllowance, now_ms: number): bigint {
    return totalOf(this.stateOf(one, now_ms));
  }

  release(request: number): void {
    this.#end(request);
  }

  /** False if there is no hold for the task. */
  beginTask(request: number): boolean {
    const hold = this.holds.get(request);
    if (!hold || hold.amount_nano === 0n) return false;
    hold.process = 'task';
    return true;
  }

  lose(): void {
    for (const hold of this.holds.values()) if (hold.process === 'shaky') hold.process = 'gone';
  }

  recover(): number {
    const gone = [...this.holds].filter(([, { process }]) => process === 'gone');
    for (const [request] of gone) this.#end(request);
    return gone.length;
  }

  #end(request: number): PlainHold | undefined {
    const hold = this.holds.get(request);
    this.holds.delete(request);
    for (const [one, begins_ms] of hold?.windows ?? []) {
      if (one.begins_ms === begins_ms) one.held_nano -= hold?.amount_nano ?? 0n;
    }
    return hold;
  }

  /** What is held in all, or by one key. */
  #held(key?: string): bigint {
    return [...this.holds.values()]
      .filter((hold) => key === undefined || hold.key === key)
      .reduce((sum, { amount_nano }) => sum + amount_nano, 0n);
  }

  get held_nano(): bigint {
    return this.#held();
  }
}

function totalOf({ amount_nano, extra_nano }: AllowanceState): bigint {
  return amount_nano + extra_nano;
}
