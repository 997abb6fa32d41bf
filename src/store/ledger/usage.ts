import { NANO_PER_DOLLAR } from '../../lib/money.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Knex } from 'knex';
import { TOKEN_CLASSES, type TokenClass } from '../../core/usage.js';
import type { Database } from '../database.js';
import { StoreError } from '../store-error.js';

/** The usage and the charges of a day, by model and key. */
export interface UsageRow extends Record<TokenClass, number> {
  /** `YYYY-MM-DD`, of UTC. */
  day: string;
  model: string;
  key_id: string | null;
  calls: number;
  prompt_tokens: number;
  completion_tokens: number;
  images: number;
  video_seconds: number;
  cost_nano: bigint;
}

/** The figures of a row, without day, model and key. */
export const NOTHING_USED: Readonly<Omit<UsageRow, 'day' | 'model' | 'key_id'>> = Object.freeze({
  calls: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  audio_input_tokens: 0,
  audio_output_tokens: 0,
  reasoning_tokens: 0,
  images: 0,
  video_seconds: 0,
  cost_nano: 0n,
});

const DAY_MS = 86_400_000;
const MAX_DAYS = 366;
/** The most entries of one statement, because in SQLite it blocks the event loop. */
const SLICE = 2_000;

/** The units in the JSON of `usage`. The classes of tokens have columns. */
const UNITS = ['prompt_tokens', 'completion_tokens', 'images', 'video_seconds'] as const;
const AMOUNTS = [...UNITS, ...TOKEN_CLASSES];

type Sum = Record<(typeof AMOUNTS)[number], number | null> & {
  day: bigint;
  model: string | null;
  key_id: string | null;
  calls: bigint;
  dollars: bigint;
  nano: bigint;
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
  let from: Position | undefined = { created_ms: from_ms, id: 0 };
  while (from) {
    const slice: Slice = { account_id, from, to_ms };
    const to: Position | undefined = await database.read((knex) => endOf(knex, slice));
    const sums = await database.read((knex) => sumsOf(knex, database.dialect, slice, to));
    for (const sum of sums) add(rows, sum);
    from = to;
    await nextTurn();
  }
  return [...rows.values()].toSorted(
    (one, other) =>
      compare(one.day, other.day) ||
      compare(one.model, other.model) ||
      compare(one.key_id ?? '', other.key_id ?? ''),
  );
}

interface Slice {
  account_id: string;
  from: Position;
  to_ms: number;
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

/** Sums dollars and the rest separately, as the sum of the column could exceed 64 bits. */
async function sumsOf(
  knex: Knex,
  dialect: Database['dialect'],
  slice: Slice,
  to: Position | undefined,
): Promise<Sum[]> {
  const entries = entriesOf(knex, slice).whereIn('kind', ['charge', 'refund']);
  if (to) {
    entries.where('created_ms', '<=', String(to.created_ms));
    entries.whereRaw('(created_ms, id) <= (?, ?)', [String(to.created_ms), String(to.id)]);
  } else entries.where('created_ms', '<', slice.to_ms);
  return entries
    .groupByRaw('1, 2, 3')
    .select(
      knex.raw(`created_ms / ${DAY_MS} as day`),
      'model',
      'key_id',
      knex.raw(`sum(case when kind = 'charge' then 1 else 0 end) as calls`),
      knex.raw(`cast(sum(amount_nano / ${NANO_PER_DOLLAR}) as bigint) as dollars`),
      knex.raw(`cast(sum(amount_nano % ${NANO_PER_DOLLAR}) as bigint) as nano`),
      ...UNITS.map((name) => knex.raw(unitIn[dialect](name))),
      ...TOKEN_CLASSES.map((name) => knex.raw(sumIn[dialect](name))),
    );
}

/** Sums are floats: an absurdly large sum is then inexact, and not an error. */
const unitIn: Record<Database['dialect'], (name: string) => string> = {
  sqlite: (name) => `total(json_extract(usage, '$.${name}')) as ${name}`,
  postgres: (name) => `sum((usage::json ->> '${name}')::double precision) as ${name}`,
};

const sumIn: Record<Database['dialect'], (name: string) => string> = {
  sqlite: (name) => `total(${name}) as ${name}`,
  postgres: (name) => `sum(${name}::double precision) as ${name}`,
};

function add(rows: Map<string, UsageRow>, sum: Sum): void {
  const day = new Date(Number(sum.day) * DAY_MS).toISOString().slice(0, 10);
  const { model, key_id } = sum;
  const name = JSON.stringify([day, model, key_id]);
  const row = rows.get(name) ?? { day, model: model ?? '', key_id, ...NOTHING_USED };
  row.calls += Number(sum.calls);
  for (const amount of AMOUNTS) row[amount] += sum[amount] ?? 0;
  row.cost_nano -= sum.dollars * NANO_PER_DOLLAR + sum.nano;
  rows.set(name, row);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
