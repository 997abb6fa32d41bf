import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { TokenClass } from '../../core/usage.js';
import type { Database } from '../database.js';
import { NANO_PER_DOLLAR } from '../../lib/money.js';
import { StoreError } from '../store-error.js';
import {
  COUNTS,
  DAY_MS,
  keptSums,
  SPLIT,
  sumsOfEntries,
  type Amount,
  type UsageSplit,
  type UsageSum,
} from './usage-days.js';

/** The usage and the charges of a day, by model, key and agent. */
export interface UsageRow extends Record<TokenClass, number> {
  /** `YYYY-MM-DD`, of UTC. By what rows are not split, they have '' or null. */
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
  image_input_tokens: 0,
  audio_output_tokens: 0,
  image_output_tokens: 0,
  reasoning_tokens: 0,
  images: 0,
  video_seconds: 0,
  cost_nano: 0n,
  upstream_cost_nano: 0n,
  profit_nano: 0n,
  saved_nano: 0n,
  lost_nano: 0n,
});

const MAX_DAYS = 366;
/** The most entries of one statement, because in SQLite it blocks the event loop. */
const SLICE = 2_000;

/** See `Store.usage`. Adds the entries that are not in the kept sums yet, slice by slice. */
export async function usage(
  database: Database,
  account_id: string,
  range: { from_ms: number; to_ms: number },
  split: readonly UsageSplit[] = SPLIT,
): Promise<UsageRow[]> {
  if (range.to_ms - range.from_ms > MAX_DAYS * DAY_MS) {
    throw new StoreError(`Usage is added up for at most ${MAX_DAYS} days at once.`);
  }
  const rows = new Map<string, UsageRow>();
  const { sums, upto } = await database.snapshot((trx) => keptSums(trx, account_id, range, split));
  for (const sum of sums) add(rows, sum, split);
  for await (const sum of freshSums(database, account_id, upto)) {
    if (sum.day_ms > range.from_ms - DAY_MS && sum.day_ms < range.to_ms) add(rows, sum, split);
  }
  return [...rows.values()].toSorted(
    (one, other) =>
      compare(one.day, other.day) ||
      compare(one.model, other.model) ||
      compare(one.key_id ?? '', other.key_id ?? '') ||
      compare(one.agent ?? '', other.agent ?? ''),
  );
}

/** The sums of an account's entries after that one: few, but for a while after an upgrade. */
async function* freshSums(
  database: Database,
  account_id: string,
  upto: bigint,
): AsyncGenerator<UsageSum> {
  for (let from: bigint | undefined = upto; from !== undefined;) {
    const after = String(from);
    const entries = (knex: Knex): Knex.QueryBuilder =>
      knex('ledger').where({ account_id }).where('id', '>', after);
    const end: { id: bigint } | undefined = await database.read((knex) =>
      entries(knex)
        .orderBy('id')
        .offset(SLICE - 1)
        .first('id'),
    );
    yield* await database.read((knex) => {
      const slice = entries(knex);
      if (end) slice.where('id', '<=', String(end.id));
      return sumsOfEntries(knex, database.dialect, slice);
    });
    from = end?.id;
    await nextTurn();
  }
}

function add(rows: Map<string, UsageRow>, sum: UsageSum, split: readonly UsageSplit[]): void {
  const nameIn = (of: Exclude<UsageSplit, 'day_ms'>): string => (split.includes(of) ? sum[of] : '');
  const isOfDay = split.includes('day_ms');
  const day = isOfDay ? new Date(Number(sum.day_ms)).toISOString().slice(0, 10) : '';
  const model = nameIn('model');
  const key_id = nameIn('key_id') || null;
  const agent = nameIn('agent') || null;
  const name = JSON.stringify([day, model, key_id, agent]);
  const row = rows.get(name) ?? { day, model, key_id, agent, ...NOTHING_USED };
  row.calls += Number(sum.calls);
  for (const count of COUNTS) row[count] += sum[count];
  row.cost_nano -= amountIn(sum, 'amount');
  row.upstream_cost_nano += amountIn(sum, 'cost');
  row.profit_nano += amountIn(sum, 'profit');
  row.saved_nano += amountIn(sum, 'saved');
  row.lost_nano += amountIn(sum, 'lost');
  rows.set(name, row);
}

function amountIn(sum: UsageSum, name: Amount): bigint {
  return sum[`${name}_dollars`] * NANO_PER_DOLLAR + sum[`${name}_rest`];
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
