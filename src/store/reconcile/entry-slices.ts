import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Database } from '../database.js';

/** The most entries of one statement, because in SQLite it blocks the event loop. */
const SLICE = 2_000;

interface Position {
  created_ms: bigint | number;
  id: bigint | number;
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
