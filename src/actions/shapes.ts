import { RATE_NAMES, type AllowanceState, type Rates } from '../core/limits.js';
import { formatDollars, withDollarSign } from '../lib/money.js';
import type { Task } from '../store/tasks/task-types.js';
import type { Account } from '../store/accounts/accounts.js';
import type { Key } from '../store/keys/keys.js';
import { MINUTE_MS } from '../store/rates/rate-counts.js';
import type { RateCounts } from '../store/rates/rate-types.js';
import { profitOfOne } from './profit-shapes.js';
import { usageOfEntry, type LedgerEntry } from '../store/ledger/ledger-columns.js';

/** Milliseconds since 1970 as ISO 8601; null stays null. */
export function isoTime(ms: number): string;
export function isoTime(ms: number | null): string | null;
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** Dollars in decimals. */
export interface AccountShape {
  id: string;
  name: string;
  balance: string;
  held: string;
  available: string;
  created: string;
  /** Since when it is suspended; null for an account that is not. */
  suspended: string | null;
}

export function accountShape({
  id,
  name,
  balance_nano,
  held_nano,
  created_ms,
  suspended_ms,
}: Account): AccountShape {
  return {
    id,
    name,
    balance: formatDollars(balance_nano),
    held: formatDollars(held_nano),
    available: formatDollars(balance_nano - held_nano),
    created: isoTime(created_ms),
    suspended: isoTime(suspended_ms),
  };
}

/** An account with the limits that all its keys share. */
export function limitedAccountShape(account: Limited<Account>) {
  return { ...accountShape(account), ...limitShape(account) };
}

/** Something with the limits that are its own. */
export type Limited<T> = T & { allowances: readonly AllowanceState[] };

/** What calls can still hold in the window. */
export function leftOf(state: AllowanceState): bigint {
  const { amount_nano, extra_nano, spent_nano, held_nano } = state;
  const left_nano = amount_nano + extra_nano - spent_nano - held_nano;
  return left_nano > 0n ? left_nano : 0n;
}

export function allowanceShape(state: AllowanceState): object {
  const { window, amount_nano, spent_nano, held_nano, ends_ms, extra_nano, extra_until_ms } = state;
  return {
    window,
    amount: formatDollars(amount_nano),
    spent: formatDollars(spent_nano),
    held: formatDollars(held_nano),
    left: formatDollars(leftOf(state)),
    returns: ends_ms === 0 ? null : isoTime(ends_ms),
    raised:
      extra_until_ms === null
        ? null
        : { by: formatDollars(extra_nano), until: isoTime(extra_until_ms) },
  };
}

/** The limits of a key or an account, in an answer. */
export function limitShape({ rates, allowances }: Limited<{ rates: Rates | null }>) {
  return { rates, allowances: allowances.map(allowanceShape) };
}

/** What is left of each rate, in the minute of the counts. */
export function ratesLeftShape(rates: Rates, counts: RateCounts) {
  const used = {
    requests_per_minute: counts.requests,
    tokens_per_minute: counts.tokens,
    concurrent_requests: counts.in_flight,
  };
  return RATE_NAMES.flatMap((rate) => {
    const amount = rates[rate];
    if (amount === undefined) return [];
    const isOfMinute = rate !== 'concurrent_requests';
    const returns = isOfMinute ? isoTime(counts.window_ms + MINUTE_MS) : null;
    return [{ rate, amount, left: Math.max(0, amount - used[rate]), returns }];
  });
}

export interface KeyShape {
  id: string;
  name: string;
  prefix: string;
  created: string;
  last_used: string | null;
  expires: string | null;
  revoked: string | null;
  models: readonly string[] | null;
  limit: string | null;
  /** Null for a key without a limit of its own. */
  spent: string | null;
  left: string | null;
  rates: Rates | null;
  allowances: readonly object[];
  /** Until when the secret before the last rotation works. */
  previous_until: string | null;
}

export function keyShape(key: Limited<Key>): KeyShape {
  const { limit_nano, spent_nano } = key;
  const left_nano = limit_nano !== null && limit_nano > spent_nano ? limit_nano - spent_nano : 0n;
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    created: isoTime(key.created_ms),
    last_used: isoTime(key.last_used_ms),
    expires: isoTime(key.expires_ms),
    revoked: isoTime(key.revoked_ms),
    models: key.models,
    limit: limit_nano === null ? null : formatDollars(limit_nano),
    spent: limit_nano === null ? null : formatDollars(spent_nano),
    left: limit_nano === null ? null : formatDollars(left_nano),
    ...limitShape(key),
    previous_until: isoTime(key.previous_until_ms),
  };
}

export interface EntryShape {
  id: number;
  created: string;
  kind: LedgerEntry['kind'];
  /** Signed: credits above zero, charges below. */
  amount: string;
  reference: string;
  /** The request whose charge a refund reverses. */
  refund_of: string | null;
  model: string | null;
  key: string | null;
  /** The client program. */
  agent: string | null;
  usage: object | null;
  estimated: boolean;
  /** The part of a charge that could not be collected. */
  uncollected: string;
  /** What caches saved, and what a move to another upstream lost. */
  saved: string;
  lost: string;
  /** What the upstream takes, and the amount beyond that; null where it is not known. */
  cost?: string | null;
  profit?: string | null;
}

/** The provider is left out, and the cost for all but operators: they are their business. */
export function entryShape(entry: LedgerEntry, has_cost: boolean): EntryShape {
  return {
    id: entry.id,
    created: isoTime(entry.created_ms),
    kind: entry.kind,
    amount: formatDollars(entry.amount_nano),
    reference: entry.reference,
    refund_of: entry.refund_of,
    model: entry.model,
    key: entry.key_id,
    agent: entry.agent,
    usage: usageOfEntry(entry),
    estimated: entry.estimated,
    uncollected: formatDollars(entry.uncollected_nano),
    saved: formatDollars(entry.saved_nano ?? 0n),
    lost: formatDollars(entry.lost_nano ?? 0n),
    ...(has_cost && profitOfOne(-entry.amount_nano, entry.cost_nano)),
  };
}

/** A credit or a refund, and the account after it. */
export interface Booking {
  entry: LedgerEntry;
  account: Account;
  /** Its reference was booked before, so nothing has changed. */
  is_repeat: boolean;
}

/** A booking as the command line prints it for programs. */
export function bookingDocument({ entry, account }: Booking) {
  const { id, balance } = accountShape(account);
  const { reference, amount_nano } = entry;
  return { account: id, reference, amount: formatDollars(amount_nano), balance };
}

/** The end of a sentence about a booking. */
export function balanceClause({ balance_nano }: Account): string {
  return `the balance is ${withDollarSign(formatDollars(balance_nano))}.`;
}

export interface TaskShape {
  id: string;
  status: Task['status'];
  account: string;
  key: string;
  model: string;
  provider: string;
  upstream_model: string;
  videos: number;
  held: string;
  /** Null until the result is fetched. */
  charge: string | null;
  error: string | null;
  created: string;
  updated: string;
}

export function taskShape(task: Task): TaskShape {
  return {
    id: task.id,
    status: task.status,
    account: task.account_id,
    key: task.key_id,
    model: task.model,
    provider: task.provider,
    upstream_model: task.upstream_model,
    videos: task.videos,
    held: formatDollars(task.hold_nano),
    charge: task.charge_nano === null ? null : formatDollars(task.charge_nano),
    error: task.error,
    created: isoTime(task.created_ms),
    updated: isoTime(task.updated_ms),
  };
}
