import { Option, type Command } from 'commander';
import { formatDollars, withDollarSign } from '../lib/money.js';
import type { Dimension, TotalsRow } from '../store/requests/request-types.js';
import type { Store } from '../store/store-types.js';
import { acting, command, UsageError, withConfig } from './command.js';
import type { Cell, Page } from '../actions/action.js';
import { profitShape } from '../actions/profit-shapes.js';
import { pageOf, paged, type PageOptions } from './listing.js';
import { namesOf } from './names.js';
import { pluralize, printJson, printLine } from './print.js';
import { printRows } from './print-rows.js';
import { accountCalled, withStore } from './store.js';

const DIMENSIONS = {
  day: 'start_ms',
  model: 'model',
  account: 'account_id',
  key: 'key_id',
  agent: 'agent',
} as const satisfies Record<string, Dimension>;

type By = keyof typeof DIMENSIONS;

interface Options extends PageOptions {
  config: string;
  by: By;
  account?: string;
  json?: true;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_DAYS = 30;
/** How far back one query may reach, for totals of hours and of days. */
const MAX_MS = { hour: 30 * DAY_MS, day: 399 * DAY_MS };

const DETAILS = `
Without --since it is the last ${DEFAULT_DAYS} days. The time is taken back to the
beginning of its hour, or of its day in UTC for days and for more than 30 days.
The figures are a second or two behind the requests. Keys are told apart for 30
days at most. The greatest cost comes first, and days in their order; --limit
keeps the first rows, and the last days. "saved" is what reads from the caches
of upstreams saved, less what writes to them cost; "lost" is at most what calls
cost more because another upstream than the one with their cache answered.
"upstream_cost" is what the upstreams took, "profit" what was charged beyond
that; "cost_unknown" was charged for calls of which that is not known.
`;

/** `tollgate usage [--by day|model|account|key|agent] [--since T] [--account A] [--limit N]` */
export function usageCommand(): Command {
  const words = command(
    'usage',
    'add up requests, tokens and dollars',
    'tollgate usage --by model --since 3d',
  );
  const choices = new Option('--by <what>', 'a row for each').choices(Object.keys(DIMENSIONS));
  return withConfig(
    paged(words)
      .addOption(choices.default('day'))
      .option('--account <account>', "only this account's, by name or id")
      .option('--json', 'print one JSON document')
      .addHelpText('after', DETAILS)
      .action(acting(usage)),
  );
}

async function usage(options: Options): Promise<void> {
  const now_ms = Date.now();
  const page = pageOf(options, now_ms);
  await withStore(options.config, async (store) => {
    const account =
      options.account === undefined ? undefined : await accountCalled(store, options.account);
    const totals = await totalsOf(store, options.by, page, now_ms, account?.id);
    const names = namesOf(store);
    const rows = [];
    for (const one of inOrder(totals, options.by, page.limit)) {
      rows.push({ ...(await headOf(names, one, options.by)), ...figures(one) });
    }
    if (options.json) return printJson(rows);
    printRows(rows.map(shortened), false, 'There was no request in that time.');
    if (totals.length > 0) printLine(`\n${sumOf(totals)}`);
  });
}

/** Throws `UsageError` for a time that the totals do not reach back to. */
function totalsOf(
  store: Store,
  by: By,
  { since_ms }: Page,
  now_ms: number,
  account_id: string | undefined,
): Promise<TotalsRow[]> {
  const from_ms = since_ms ?? now_ms - DEFAULT_DAYS * DAY_MS;
  const isShort = now_ms - from_ms <= MAX_MS.hour;
  if (by === 'key' && !isShort) throw new UsageError('keys are told apart for 30 days at most');
  if (now_ms - from_ms > MAX_MS.day) throw new UsageError('usage goes back 399 days at most');
  const period = by === 'day' || !isShort ? 'day' : 'hour';
  const split = [DIMENSIONS[by]];
  const account = account_id === undefined ? {} : { account_id };
  return store.requests.totals({ from_ms, to_ms: now_ms + 1, period, by: split, ...account });
}

function inOrder(totals: readonly TotalsRow[], by: By, limit: number): TotalsRow[] {
  if (by === 'day') {
    return [...totals].sort((a, b) => (a.start_ms ?? 0) - (b.start_ms ?? 0)).slice(-limit);
  }
  const byCost = (a: TotalsRow, b: TotalsRow): number => Number(b.cost_nano - a.cost_nano);
  return [...totals].sort((a, b) => byCost(a, b) || b.calls - a.calls).slice(0, limit);
}

async function headOf(
  names: ReturnType<typeof namesOf>,
  row: TotalsRow,
  by: By,
): Promise<Record<string, Cell>> {
  switch (by) {
    case 'day':
      return { day: new Date(row.start_ms ?? 0).toISOString().slice(0, 10) };
    case 'model':
      return { model: row.model || null };
    case 'agent':
      return { agent: row.agent || null };
    case 'key': {
      const key = row.key_id ?? '';
      return { key, name: await names.key(key) };
    }
    case 'account': {
      const account = row.account_id ?? '';
      return { account, name: await names.account(account) };
    }
  }
}

function figures(row: TotalsRow) {
  return {
    requests: row.calls,
    failed: row.failed,
    prompt_tokens: row.prompt_tokens,
    cached_tokens: row.cached_tokens,
    completion_tokens: row.completion_tokens,
    cost: formatDollars(row.cost_nano),
    uncollected: formatDollars(row.uncollected_nano),
    ...profitShape(row),
    saved: formatDollars(row.saved_nano),
    lost: formatDollars(row.lost_nano),
  };
}

/** A row as a table shows it: the share of caches, and no columns of zeros. */
function shortened<Row extends ReturnType<typeof figures>>(row: Row) {
  const { prompt_tokens, cached_tokens, completion_tokens, cost, ...others } = row;
  const { uncollected, upstream_cost, profit, cost_unknown, saved, lost, ...head } = others;
  const hasProfit = profit !== null && Number(profit) !== 0;
  const share = prompt_tokens > 0 ? Math.round((cached_tokens / prompt_tokens) * 100) : 0;
  return {
    ...head,
    prompt_tokens,
    cached: cached_tokens > 0 ? `${share} %` : null,
    completion_tokens,
    cost,
    upstream_cost: hasProfit ? upstream_cost : null,
    profit: hasProfit ? profit : null,
    ...unlessZero({ cost_unknown, uncollected, saved, lost }),
  };
}

function unlessZero<Name extends string>(amounts: Record<Name, string>) {
  const entries = Object.entries<string>(amounts);
  const shown = entries.map(([name, amount]) => [name, Number(amount) === 0 ? null : amount]);
  return Object.fromEntries(shown) as Record<Name, string | null>;
}

function sumOf(totals: readonly TotalsRow[]): string {
  const calls = totals.reduce((sum, one) => sum + one.calls, 0);
  const cost_nano = totals.reduce((sum, one) => sum + one.cost_nano, 0n);
  const charged = withDollarSign(formatDollars(cost_nano));
  const saved_nano = totals.reduce((sum, one) => sum + one.saved_nano, 0n);
  const saved =
    saved_nano === 0n ? '' : `, ${withDollarSign(formatDollars(saved_nano))} saved by caches`;
  const profit_nano = totals.reduce((sum, one) => sum + one.profit_nano, 0n);
  const profit =
    profit_nano === 0n ? '' : `, ${withDollarSign(formatDollars(profit_nano))} of it profit`;
  return `${pluralize(calls, 'request')}, ${charged} charged${profit}${saved}, before refunds.`;
}
