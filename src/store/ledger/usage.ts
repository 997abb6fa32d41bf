import { NANO_PER_DOLLAR } from '../../lib/money.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Knex } from 'knex';
import { TOKEN_CLASSES, type TokenClass } from '../../core/usage.js';
import type { Database } from '../database.js';
import { StoreError } from '../store-error.js';

/** The usage and the charges of a day, by model, key and agent. */
export interface UsageRow extends Record<TokenClass, number> {
  /** `YYYY-MM-DD`, of UTC. */
  day: string;
  model: string;
  key_id: string | null;
  agent: string | null;
  calls: number;
  prompt_tokens: number;
  completion_tokens: number;
  images: number;
  video_seconds: number;
  /** What the account paid, after refunds. */
  cost_nano: bigint;
  /** What the upstreams took, and what was paid beyond that, where it is known. */
  upstream_cost_nano: bigint;
  profit_nano: bigint;
  /** What caches saved, and what moves of conversations lost, before refunds. */
  saved_nano: bigint;
  lost_nano: bigint;
}

export type UsageFigures = Omit<UsageRow, 'day' | 'model' | 'key_id' | 'agent'>;

export const NOTHING_USED: Readonly<UsageFigures> = Object.freeze({
  calls: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
  audio_input_tokens: 0,
  audio_output_tokens: 0,
  reasoning_tokens: 0,
  images: 0,
  video_seconds: 0,
  cost_nano: 0n,
  upstream_cost_nano: 0n,
  profit_nano: 0n,
  saved_nano: 0n,
  lost_nano: 0n,
});

export const DAY_MS = 86_400_000;
const MAX_DAYS = 366;
/** The most entries of one statement, because in SQLite it blocks the event loop. */
const SLICE = 2_000;

/** The units in the JSON of `usage`. The classes of tokens have columns. */
const UNITS = ['prompt_tokens', 'completion_tokens', 'images', 'video_seconds'] as const;
const COUNTS = [...UNITS, ...TOKEN_CLASSES];
/** The amounts of an entry in SQL; null where an entry has none, or it is not known. */
const AMOUNTS = {
  amount_nano: 'amount_nano',
  cost_nano: 'cost_nano',
  profit_nano: '(-amount_nano - cost_nano)',
  saved_nano: 'saved_nano',
  lost_nano: 'lost_nano',
} as const;

type Amount = keyof typeof AMOUNTS;

type Sum = Record<(typeof COUNTS)[number], number | null> &
  Record<`${Amount}_dollars` | `${Amount}_rest`, bigint | null> & {
    day: bigint;
    model: string | null;
    key_id: string | null;
    agent: string | null;
    calls: bigint;
  };

interface Position {
  created_ms: bigint | number;
  id: bigint | number;
}

/** See `Store.usage`. Sums the index slice by slice, so that it never blocks for long. */
export async function usage(
  database: Database,
  account_id: string,
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): Promise<UsageRow[]> {
  if (to_ms - from_ms > MAX_DAYS * DAY_MS) {
    throw new StoreError(`Usage is added up for at most ${MAX_DAYS} days at once.`);
  }
  const rows = new Map<string, UsageRow>();
  const slices = sumSlices(database, { account_id, from_ms, to_ms }, (knex, entries) =>
    sumsOf(knex, database.dialect, entries),
  );
  for await (const sum of slices) add(rows, sum);
  return [...rows.values()].toSorted(
    (one, other) =>
      compare(one.day, other.day) ||
      compare(one.model, other.model) ||
      compare(one.key_id ?? '', other.key_id ?? '') ||
      compare(one.agent ?? '', other.agent ?? ''),
  );
}

interface Slice {
  account_id: string;
  from: Position;
  to_ms: number;
}

/** The sums of an account's entries in a range of time, slice by slice. */
export async function* sumSlices<Sum>(
  database: Database,
  { account_id, from_ms, to_ms }: { account_id: string; from_ms: number; to_ms: number },
  sum: (knex: Knex, entries: Knex.QueryBuilder) => Promise<Sum[]>,
): AsyncGenerator<Sum> {
  let from: Position | undefined = { created_ms: from_ms, id: 0 };
  while (from) {
    const slice: Slice = { account_id, from, to_ms };
    const to: Position | undefined = await database.read((knex) => endOf(knex, slice));
    yield* await database.read((knex) => sum(knex, upTo(knex, slice, to)));
    from = to;
    await nextTurn();
  }
}

/**
 * The entries after the position. The caller adds the end, at which the index scan stops. The plain
 * condition on the time is for PostgreSQL: with the pair alone its planner expects half of the
 * ledger, and reads the whole table.
 */
function entriesOf(knex: Knex, { account_id, from }: Slice): Knex.QueryBuilder {
  return knex('ledger')
    .where({ account_id })
    .where('created_ms', '>=', String(from.created_ms))
    .whereRaw('(created_ms, id) > (?, ?)', [String(from.created_ms), String(from.id)]);
}

/** The last entry of the slice; undefined if all other entries fit into one slice. */
function endOf(knex: Knex, slice: Slice): Promise<Position | undefined> {
  return entriesOf(knex, slice)
    .where('created_ms', '<', slice.to_ms)
    .orderBy(['created_ms', 'id'])
    .offset(SLICE - 1)
    .first('created_ms', 'id');
}

/** The entries of a slice. */
function upTo(knex: Knex, slice: Slice, to: Position | undefined): Knex.QueryBuilder {
  const entries = entriesOf(knex, slice);
  if (!to) return entries.where('created_ms', '<', slice.to_ms);
  return entries
    .where('created_ms', '<=', String(to.created_ms))
    .whereRaw('(created_ms, id) <= (?, ?)', [String(to.created_ms), String(to.id)]);
}

/** Sums dollars and the rest separately, as the sum of a column could exceed 64 bits. */
async function sumsOf(
  knex: Knex,
  dialect: Database['dialect'],
  entries: Knex.QueryBuilder,
): Promise<Sum[]> {
  return entries
    .whereIn('kind', ['charge', 'refund'])
    .groupByRaw('1, 2, 3, 4')
    .select(
      knex.raw(`created_ms / ${DAY_MS} as day`),
      'model',
      'key_id',
      'agent',
      knex.raw(`sum(case when kind = 'charge' then 1 else 0 end) as calls`),
      ...Object.entries(AMOUNTS).flatMap(([name, sql]) => [
        knex.raw(`cast(sum(${sql} / ${NANO_PER_DOLLAR}) as bigint) as ${name}_dollars`),
        knex.raw(`cast(sum(${sql} % ${NANO_PER_DOLLAR}) as bigint) as ${name}_rest`),
      ]),
      ...UNITS.map((name) => knex.raw(unitIn[dialect](name))),
      ...TOKEN_CLASSES.map((name) => knex.raw(sumIn[dialect](name))),
    );
}

/** Sums are floats: an absurdly large sum is then inexact, and not an error. */
export const unitIn: Record<Database['dialect'], (name: string) => string> = {
  sqlite: (name) => `total(json_extract(usage, '$.${name}')) as ${name}`,
  postgres: (name) => `sum((usage::json ->> '${name}')::double precision) as ${name}`,
};

export const sumIn: Record<Database['dialect'], (name: string) => string> = {
  sqlite: (name) => `total(${name}) as ${name}`,
  postgres: (name) => `sum(${name}::double precision) as ${name}`,
};

function add(rows: Map<string, UsageRow>, sum: Sum): void {
  const day = new Date(Number(sum.day) * DAY_MS).toISOString().slice(0, 10);
  const { model, key_id, agent } = sum;
  const name = JSON.stringify([day, model, key_id, agent]);
  const row = rows.get(name) ?? { day, model: model ?? '', key_id, agent, ...NOTHING_USED };
  row.calls += Number(sum.calls);
  for (const count of COUNTS) row[count] += sum[count] ?? 0;
  row.cost_nano -= amountIn(sum, 'amount_nano');
  row.upstream_cost_nano += amountIn(sum, 'cost_nano');
  row.profit_nano += amountIn(sum, 'profit_nano');
  row.saved_nano += amountIn(sum, 'saved_nano');
  row.lost_nano += amountIn(sum, 'lost_nano');
  rows.set(name, row);
}

/** Zero where all rows have null. */
function amountIn(sum: Sum, name: Amount): bigint {
  return (sum[`${name}_dollars`] ?? 0n) * NANO_PER_DOLLAR + (sum[`${name}_rest`] ?? 0n);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
