import type { Knex } from 'knex';
import { toBinding } from '../column-values.js';
import type { Database } from '../database.js';
import { OLDEST_TRANSACTION } from '../postgres/postgres-statements.js';
import { REQUEST_NAMES, toRecord, type RequestRow } from './request-columns.js';
import type { RequestTail, TailCursor } from './request-types.js';

/**
 * The records that were committed after the cursor, in the order of their commits. In PostgreSQL a
 * transaction that began earlier may commit later, so this reads only records of transactions that
 * are older than any open one.
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
  const row = await database.read<{ last: bigint | null } | undefined>((knex) => {
    const query = knex('requests').first<{ last: bigint | null }>(knex.raw('max(seq) as last'));
    if (database.dialect === 'postgres') void query.whereRaw(`seq < ${OLDEST_TRANSACTION}`);
    return query;
  });
  return row?.last ?? 0n;
}
