import {
  isAllowanceWindow,
  perWindow,
  sameWindows,
  WINDOW_WORDS,
  type AllowanceState,
  type AllowanceWindow,
  type Rates,
} from '../core/limits.js';
import { formatDollars, parseDollars, withDollarSign } from '../lib/money.js';
import type { AllowanceChange, AllowanceOwner } from '../store/limits/allowances.js';
import type { RatesChange } from '../store/limits/rate-terms.js';
import type { Store } from '../store/store-types.js';
import { invalid, type Field } from './action.js';
import { startOf } from './days.js';
import { isoTime, leftOf, type Limited } from './shapes.js';

/** The limits of a key or an account, as the API and the command line send them. */
export interface LimitInput {
  allowances?: { readonly [window: string]: string | null };
  raise?: { window?: string; by?: string; until?: string };
  rates?: RatesChange;
}

/** How the command line and forms ask for the limits of a key or an account. */
export const LIMIT_FIELDS = {
  allowances: {
    typed: '--allowance <window=dollars>',
    about: 'let it spend so much by day, week, month or 5h; may be repeated',
    type: 'allowances',
    form: {
      label: 'Allowances, in dollars',
      hint: 'Amounts that return by day, week, month, or a window that begins with the first call.',
      placeholder: 'day=5.00 5h=1.00',
    },
  },
  'rates.requests_per_minute': {
    typed: '--requests-per-minute <number>',
    about: 'let so many requests begin in a minute',
    type: 'rate',
    form: { label: 'Requests a minute' },
  },
  'rates.tokens_per_minute': {
    typed: '--tokens-per-minute <number>',
    about: 'let its calls use so many tokens in a minute',
    type: 'rate',
    form: { label: 'Tokens a minute' },
  },
  'rates.concurrent_requests': {
    typed: '--concurrent-requests <number>',
    about: 'let so many requests run at once',
    type: 'rate',
    form: { label: 'Requests at once' },
  },
} as const satisfies Record<string, Field>;

/** How they ask for a temporary increase, which an edit makes. */
export const RAISE_FIELDS = {
  raise: {
    typed: '--raise <window=dollars>',
    about: 'add so much to an allowance, for a while',
    type: 'raise',
    form: {
      label: 'Temporary increase, in dollars',
      hint: 'So much more of one allowance, in place of an earlier increase; day=0 ends that one.',
      placeholder: 'day=10.00',
    },
  },
  'raise.until': {
    typed: '--until <time>',
    about: 'the end of the increase, as in 12h or 2026-12-31T00:00Z',
    type: 'until',
    form: { label: 'The increase ends' },
  },
} as const satisfies Record<string, Field>;

/** The changes that the input asks for. Throws `GatewayError` (400, naming the field). */
export function readLimits(
  { allowances, raise, rates }: LimitInput,
  now_ms: number,
): { allowances?: AllowanceChange; rates?: RatesChange } {
  const change: AllowanceChange = {
    ...(allowances && { amounts: readAmounts(allowances) }),
    ...(raise && { raise: readRaise(raise, now_ms) }),
  };
  return {
    ...((allowances ?? raise) && { allowances: change }),
    ...(rates && { rates }),
  };
}

function readAmounts(
  allowances: NonNullable<LimitInput['allowances']>,
): NonNullable<AllowanceChange['amounts']> {
  const amounts: Partial<Record<AllowanceWindow, bigint | null>> = {};
  for (const [name, text] of Object.entries(allowances)) {
    const window = readWindow('allowances', name);
    const amount_nano = text === null ? null : parseDollars(text);
    if (amount_nano !== null && amount_nano <= 0n) {
      throw invalid('allowances', `The allowance ${perWindow(window)} must be above zero.`);
    }
    amounts[window] = amount_nano;
  }
  const set = Object.entries(amounts).filter(([, amount_nano]) => amount_nano !== null);
  const same = sameWindows(set.map(([window]) => window as AllowanceWindow));
  if (same)
    throw invalid(
      'allowances',
      `The windows ${same.join(' and ')} have one length: set one of them.`,
    );
  return amounts;
}

function readRaise(
  { window, by, until }: NonNullable<LimitInput['raise']>,
  now_ms: number,
): NonNullable<AllowanceChange['raise']> {
  if (window === undefined || by === undefined) {
    throw invalid('raise', 'raise must name the window of an allowance, and by how much.');
  }
  const by_nano = parseDollars(by);
  const raised = readWindow('raise', window);
  if (by_nano === 0n) return { window: raised, by_nano, until_ms: 0 };
  if (until === undefined) throw invalid('raise.until', 'raise.until must say when it ends.');
  return { window: raised, by_nano, until_ms: readFuture('raise.until', until, now_ms) };
}

function readWindow(param: string, window: string): AllowanceWindow {
  if (isAllowanceWindow(window)) return window;
  throw invalid(param, `"${window}" is no window of an allowance: write ${WINDOW_WORDS}.`);
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/u;

/** A time later than now. Throws `GatewayError` (400) for any other text. */
export function readFuture(param: string, text: string, now_ms: number): number {
  const ms = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms) || startOf(text.slice(0, 10)) === undefined) {
    throw invalid(param, `${param} must be a time such as 2026-12-31T23:59:59Z.`);
  }
  if (ms > now_ms) return ms;
  throw invalid(param, `${param} must be later than now.`);
}

/** Adds the allowances of keys or accounts. */
export async function withAllowances<T extends { id: string }>(
  store: Store,
  owner: AllowanceOwner,
  all: readonly T[],
): Promise<Limited<T>[]> {
  const ids = all.map(({ id }) => id);
  const found = await store.allowances(owner, ids);
  return all.map((one) => ({ ...one, allowances: found.get(one.id) ?? [] }));
}

export async function withOwnAllowances<T extends { id: string }>(
  store: Store,
  owner: AllowanceOwner,
  one: T,
): Promise<Limited<T>> {
  const [limited] = await withAllowances(store, owner, [one]);
  return limited!;
}

/** The limits of a key or an account as two cells of a table. */
export function limitCells({ rates, allowances }: Limited<{ rates: Rates | null }>) {
  return { rates, allowances: allowances.length === 0 ? null : allowances.map(stateText) };
}

function stateText(state: AllowanceState): string {
  const { window, amount_nano, extra_nano, ends_ms } = state;
  const amount = formatDollars(amount_nano + extra_nano);
  const returns = ends_ms === 0 ? '' : `, returns ${isoTime(ends_ms)}`;
  return `${window}: ${formatDollars(leftOf(state))} of ${amount} left${returns}`;
}

/** One sentence each about rates and allowances, for the text of a command. */
export function limitSentences({ rates, allowances }: Limited<{ rates: Rates | null }>): string[] {
  const amounts = allowances.map(({ window, amount_nano, extra_nano, extra_until_ms }) => {
    const extra = withDollarSign(formatDollars(extra_nano));
    const raised =
      extra_until_ms === null ? '' : ` (and ${extra} more until ${isoTime(extra_until_ms)})`;
    return `${withDollarSign(formatDollars(amount_nano))} ${perWindow(window)}${raised}`;
  });
  const { requests_per_minute, tokens_per_minute, concurrent_requests } = rates ?? {};
  const terms = [
    requests_per_minute !== undefined && `${requests_per_minute} requests a minute`,
    tokens_per_minute !== undefined && `${tokens_per_minute} tokens a minute`,
    concurrent_requests !== undefined && `${concurrent_requests} requests at once`,
  ].filter((term) => term !== false);
  return [
    ...(amounts.length > 0 ? [`It may spend ${amounts.join(', ')}.`] : []),
    ...(terms.length > 0 ? [`It may have ${terms.join(', ')}.`] : []),
  ];
}
