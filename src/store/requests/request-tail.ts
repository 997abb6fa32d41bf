import type { Knex } from 'knex';
import { toBinding } from '../column-values.js';
import type { Database } from '../database.js';
import { REQUEST_NAMES, toRecord, type RequestRow } from './request-columns.js';
import type { RequestTail, TailCursor } from './request-types.js';

/**
 * The records that were committed after the cursor, in the order of their numbers. In PostgreSQL a
 * record with a lower number may be committed later, so this reads only those that the totals have.
 */
export async function tail(
  database: Database,
  cursor: TailCursor | undefined,
  limit: number,
): Promise<RequestTail> {
  const last = await lastSeq(database);
  // SQLite gives the number of the last row again once that row is deleted.
  if (!cursor || last < cursor.seq) return { records: [], cursor: { seq: last, id: '~' } };
  const { seq, id } = cursor;
  const rows = await database.read<(RequestRow & { seq: bigint })[]>((knex) => {
    const query: Knex.QueryBuilder = knex('requests').select([...REQUEST_NAMES, 'seq']);
    return query
      .whereBetween('seq', [toBinding(seq), toBinding(last)])
      .whereRaw('(seq > ? or id > ?)', [toBinding(seq), id])
      .orderBy(['seq', 'id'])
      .limit(limit);
  });
  const end = rows.at(-1);
  const next = end ? { seq: end.seq, id: String(end.id) } : cursor;
  return { records: rows.map(toRecord), cursor: next };
}

/** The number of the last record after which no record with a lower number can appear. */
async function lastSeq(database: Database): Promise<bigint> {
  const row = await database.read<{ last: bigint | null } | undefined>((knex) =>
    database.dialect === 'postgres'
      ? knex('request_roll_up').first('upto as last')
      : knex('requests').first(knex.raw('max(seq) as last')),
  );
  return row?.last ?? 0n;
}
