import { NANO_PER_DOLLAR } from '../../lib/money.js';
import type { Knex } from 'knex';
import { isPossible } from '../column-values.js';
import type { Database } from '../database.js';
import { StoreError } from '../store-error.js';
import { ACCOUNT_DAY, bucketStart_ms, DAY, FIGURE_NAMES, HOUR_MS } from './request-totals-sql.js';
import type {
  HourRowsQuery,
  LatencyQuery,
  LatencyRow,
  Percentiles,
  RequestFilter,
  RequestTotals,
  TotalsQuery,
  TotalsRow,
} from './request-types.js';

const PERIOD_MS = { hour: HOUR_MS, day: 24 * HOUR_MS };
/** The most periods of one query; the key of the tables begins with them. */
const MAX_PERIODS = { hour: 31 * 24, day: 400 };
/** Reading more hours of all accounts and keys would take a second or longer. */
const MAX_HOURS_OF_EACH = 49;
/** The figures of the totals that are amounts. */
export const AMOUNTS = [
  'cost_nano',
  'uncollected_nano',
  'upstream_cost_nano',
  'profit_nano',
  'saved_nano',
  'lost_nano',
] as const satisfies readonly (keyof RequestTotals)[];

/** The beginnings of the hours or days of a range. Throws `StoreError` for too many of them. */
export function periodsOf({
  from_ms,
  to_ms,
  period,
}: Pick<TotalsQuery, 'from_ms' | 'to_ms' | 'period'>) {
  const length_ms = PERIOD_MS[period];
  const first = Math.floor(from_ms / length_ms);
  const count = Math.ceil(to_ms / length_ms) - first;
  const max = MAX_PERIODS[period];
  if (count > max) throw new StoreError(`Totals by the ${period} are for ${max} at most.`);
  return Array.from({ length: Math.max(count, 0) }, (_, at) => (first + at) * length_ms);
}

/** The account whose rows are read: `ALL` for the sum of all accounts, `EACH` for every account. */
export const ALL = '';
const EACH = Symbol('each account');

/** Adds the conditions of a filter. */
export function among(
  query: Knex.QueryBuilder,
  account: string | typeof EACH,
  { key_id, model, provider, agent, status, failed, code }: RequestFilter,
): Knex.QueryBuilder {
  if (account === EACH) query.whereNot({ account_id: ALL });
  else query.where({ account_id: account });
  if (key_id !== undefined) query.where({ key_id });
  if (model !== undefined) query.where({ model });
  if (provider !== undefined) query.where({ provider });
  if (agent !== undefined) query.where({ agent });
  if (failed === true || code !== undefined) {
    query.where((either) => either.where('status', '>=', 400).orWhere('failed', '>', 0));
  }
  if (status !== undefined && status < 10) {
    return query.whereBetween('status', [status * 100, status * 100 + 99]);
  }
  return status === undefined ? query : query.where({ status });
}

/** The account of a filter, or of its key; undefined if it names neither. */
export async function accountOf(
  database: Database,
  { account_id, key_id }: RequestFilter,
): Promise<string | undefined> {
  if (account_id !== undefined || key_id === undefined) return account_id;
  const row = await database.read<{ account_id: string } | undefined>((knex) =>
    knex('keys').where({ id: key_id }).first('account_id'),
  );
  // No account has the ID of a key, so that an unknown key finds no rows.
  return row?.account_id ?? key_id;
}

function canBe(texts: readonly (string | undefined)[]): boolean {
  return texts.every((text) => text === undefined || isPossible(text));
}

/**
 * Whether day rows suffice. They are split by model in an account, by key, and for all accounts.
 */
function isOfDays(query: TotalsQuery): boolean {
  const { model, provider, by } = query;
  const isOfProviders = by.includes('provider') || provider !== undefined;
  const isOfModels = by.includes('model') || model !== undefined;
  if (isOfKeys(query)) return !isOfProviders && !isOfModels;
  return !isOfProviders || (query.account_id === undefined && !isByAccountOrKey(query));
}

function isOfKeys({ key_id, by }: TotalsQuery): boolean {
  return key_id !== undefined || by.includes('key_id');
}

/** Whether the result is split by account or key. */
function isByAccountOrKey({ by }: TotalsQuery): boolean {
  return by.includes('account_id') || by.includes('key_id');
}

/** Whether the rows by key can be read for accounts: there are fewer than by model. */
function isOfAccounts({ by, model, provider }: TotalsQuery): boolean {
  const isOfModels = by.includes('model') || by.includes('provider');
  return by.includes('account_id') && !isOfModels && model === undefined && provider === undefined;
}

/** Whether the result is split by account alone: a day has one row for each account. */
function isOfWholeAccounts(query: TotalsQuery): boolean {
  const { by, key_id, status, agent } = query;
  const isSplit =
    by.some((name) => name !== 'account_id' && name !== 'start_ms') ||
    [key_id, status, agent].some((one) => one !== undefined);
  return isOfAccounts(query) && !isSplit;
}

type Slice = [period: TotalsQuery['period'] | typeof ACCOUNT_DAY, start_ms: number];

/**
 * The periods to add up: whole days instead of their hours if the result is not split by hour,
 * because a day has far fewer rows.
 */
function slicesOf(query: TotalsQuery, isOfEach: boolean): Slice[] {
  const { period, by } = query;
  const starts = periodsOf(query);
  if (period === 'day') return starts.map((start_ms) => ['day', start_ms]);
  const isWhole = !by.includes('start_ms') && isOfDays(query);
  const slices: Slice[] = isWhole ? withDays(starts) : starts.map((start_ms) => ['hour', start_ms]);
  const max = MAX_HOURS_OF_EACH;
  if (isOfEach && slices.filter(([of]) => of === 'hour').length > max) {
    throw new StoreError(`Totals of each account by the hour are for ${max} hours at most.`);
  }
  return slices;
}

/**
 * Adds the condition of slices: the starts of each period, as PostgreSQL plans a list of hundreds
 * of pairs longer than it reads their rows. `ofDays` narrows those that are not hours.
 */
function inSlices(
  query: Knex.QueryBuilder,
  slices: readonly Slice[],
  ofDays: (days: Knex.QueryBuilder) => unknown = () => undefined,
): Knex.QueryBuilder {
  const periods = new Set(slices.map(([period]) => period));
  return query.where((either) => {
    if (periods.size === 0) either.whereRaw('1 = 0');
    for (const period of periods) {
      const starts = slices.flatMap(([of, start_ms]) => (of === period ? start_ms : []));
      either.orWhere((one) => {
        one.where({ period }).whereIn('start_ms', starts);
        if (period !== 'hour') ofDays(one);
      });
    }
  });
}

/** Whole days instead of their hours, and the hours around them. */
function withDays(hours: readonly number[]): Slice[] {
  const day_ms = PERIOD_MS.day;
  const first_ms = Math.ceil((hours[0] ?? 0) / day_ms) * day_ms;
  const last_ms = (hours.at(-1) ?? 0) + HOUR_MS;
  const end_ms = Math.floor(last_ms / day_ms) * day_ms;
  return hours.flatMap((start_ms): Slice[] => {
    if (start_ms < first_ms || start_ms >= end_ms) return [['hour', start_ms]];
    return start_ms % day_ms === 0 ? [['day', start_ms]] : [];
  });
}

/** See `RequestStore.totals`. */
export async function totals(database: Database, query: TotalsQuery): Promise<TotalsRow[]> {
  const { period, by, step, key_id, account_id, model, provider, agent } = query;
  if (!canBe([account_id, key_id, model, provider, agent])) return [];
  const account = await accountOf(database, query);
  const isOfEach = account === undefined && isByAccountOrKey(query);
  if (period === 'day' && !isOfDays(query)) {
    throw new StoreError(
      'Totals by the day are split by model or by key of an account, and no further.',
    );
  }
  const isOfWhole = isOfEach && isOfWholeAccounts(query);
  const slices = slicesOf(query, isOfEach).map(([of, start_ms]): Slice => [
    isOfWhole && of === 'day' ? ACCOUNT_DAY : of,
    start_ms,
  ]);
  const rows = await database.read<Record<string, unknown>[]>((knex) => {
    // An account has its days twice: by key, and by model under the key ''.
    const under = !isOfWhole && (isOfKeys(query) || isOfAccounts(query)) ? '<>' : '=';
    const selected = inSlices(knex('request_totals'), slices, (days) =>
      days.where('key_id', under, ''),
    );
    among(selected, account ?? (isOfEach ? EACH : ALL), query).select([
      ...by.map((name) => (name === 'start_ms' && step ? knex.raw(`${DAY} as start_ms`) : name)),
      ...wantedOf(query).flatMap((name) => sumsOf(knex, name)),
    ]);
    const places = by.map((_name, at) => at + 1).join();
    return by.length === 0 ? selected : selected.groupByRaw(places).orderByRaw(places);
  });
  const read = readerOf(query);
  // The sum of no rows at all is one row of nulls.
  return rows.filter(({ calls }) => calls !== null).map(read);
}

/** See `RequestStore.hourRows`. */
export async function hourRows(
  database: Database,
  { account_id, key_id, model, ...span }: HourRowsQuery,
  limit: number,
): Promise<number> {
  if (!canBe([account_id, key_id, model])) return 0;
  const filter = { ...(key_id !== undefined && { key_id }), ...(model !== undefined && { model }) };
  const starts = periodsOf({ ...span, period: 'hour' });
  const row = await database.read<{ count: bigint } | undefined>((knex) => {
    const hours = knex('request_totals').where({ period: 'hour' }).whereIn('start_ms', starts);
    const counted = among(hours, account_id, filter).limit(limit).select(knex.raw('1')).as('some');
    return knex.from(counted).first<{ count: bigint }>(knex.raw('count(*) as count'));
  });
  return Number(row?.count ?? 0);
}

type Row = Record<string, unknown>;

function wantedOf({ figures }: TotalsQuery): string[] {
  const wanted: ReadonlySet<string> = new Set(figures ?? FIGURE_NAMES);
  return FIGURE_NAMES.filter((name) => name === 'calls' || wanted.has(name));
}

function isAmount(name: string): boolean {
  return AMOUNTS.some((amount) => amount === name);
}

/** Sums dollars and the rest separately, as the sum of the column could exceed 64 bits. */
function sumsOf(knex: Knex, name: string): Knex.Raw[] {
  if (!isAmount(name)) return [knex.raw(`cast(sum(${name}) as double precision) as ${name}`)];
  return [
    knex.raw(`cast(sum(${name} / ${NANO_PER_DOLLAR}) as bigint) as ${name}_dollars`),
    knex.raw(`cast(sum(${name} % ${NANO_PER_DOLLAR}) as bigint) as ${name}_rest`),
  ];
}

/** Reads the rows of a query; a year of an account has thousands. */
function readerOf(query: TotalsQuery): (row: Row) => TotalsRow {
  const wanted = wantedOf(query);
  const counts = wanted.filter((name) => !isAmount(name));
  const amounts = wanted.filter(isAmount).map((name) => [name, `${name}_dollars`, `${name}_rest`]);
  const zeros = FIGURE_NAMES.map((name) => [name, isAmount(name) ? 0n : 0] as const);
  const empty: Row = Object.fromEntries([...query.by.map((name) => [name, '']), ...zeros]);
  return (row) => {
    // A copy that has all fields already is made faster than one to which some are added.
    const read: Row = { ...empty };
    for (const name of query.by) {
      const value = row[name];
      read[name] = typeof value === 'bigint' ? Number(value) : value;
    }
    for (const name of counts) read[name] = Number(row[name] ?? 0);
    for (const [name = '', dollars = '', rest = ''] of amounts) {
      read[name] = BigInt(String(row[dollars])) * NANO_PER_DOLLAR + BigInt(String(row[rest]));
    }
    return read as unknown as TotalsRow;
  };
}

/** See `RequestStore.latencies`. */
export async function latencies(database: Database, query: LatencyQuery): Promise<LatencyRow[]> {
  const { by, account_id = ALL, model, provider, period } = query;
  if (!canBe([account_id, model, provider])) return [];
  const isSplit = [model, provider].some(Boolean) || by.some((name) => name !== 'start_ms');
  if (account_id !== ALL && isSplit) {
    throw new StoreError('Latencies of an account are not split by model or provider.');
  }
  const starts = periodsOf({ ...query, period: period ?? 'hour' });
  const isWhole = period === undefined && !by.includes('start_ms');
  const slices = isWhole ? withDays(starts) : starts.map((ms): Slice => [period ?? 'hour', ms]);
  const rows = await database.read<LatencyCount[]>((knex) =>
    among(inSlices(knex('request_latencies'), slices), account_id, query)
      .groupBy([...by, 'kind', 'bucket'])
      .orderBy([...by, 'kind', 'bucket'])
      .select([...by, 'kind', 'bucket', knex.raw('cast(sum(calls) as bigint) as calls')]),
  );
  const groups = new Map<string, { row: LatencyRow; counts: Record<string, Count[]> }>();
  for (const one of rows) {
    const dimensions = by.map((name) => [
      name,
      name === 'start_ms' ? Number(one.start_ms) : one[name],
    ]);
    const name = JSON.stringify(dimensions);
    const row = { ...Object.fromEntries(dimensions), took: null, first_token: null } as LatencyRow;
    const group = groups.get(name) ?? { row, counts: {} };
    const { kind, bucket, calls } = one;
    (group.counts[kind] ??= []).push({ bucket: Number(bucket), calls: Number(calls) });
    groups.set(name, group);
  }
  return [...groups.values()].map(({ row, counts: { took, first_token } }) => ({
    ...row,
    took: took ? percentiles(took) : null,
    first_token: first_token ? percentiles(first_token) : null,
  }));
}

interface LatencyCount {
  start_ms?: bigint;
  model?: string;
  provider?: string;
  kind: string;
  bucket: bigint | number;
  calls: bigint;
}

interface Count {
  bucket: number;
  calls: number;
}

function percentiles(counts: readonly Count[]): Percentiles {
  const calls = counts.reduce((sum, one) => sum + one.calls, 0);
  const at = (share: number): number => percentile(counts, share * calls);
  return { calls, p50_ms: at(0.5), p95_ms: at(0.95), p99_ms: at(0.99) };
}

/** Reads the rank off the buckets, as if the calls of a bucket were spread evenly in it. */
function percentile(counts: readonly Count[], rank: number): number {
  let before = 0;
  for (const { bucket, calls } of counts) {
    if (before + calls >= rank) {
      const from_ms = bucketStart_ms(bucket);
      const to_ms = bucketStart_ms(bucket + 1);
      return from_ms + ((to_ms - from_ms) * (rank - before)) / calls;
    }
    before += calls;
  }
  return 0;
}
