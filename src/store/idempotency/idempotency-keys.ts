import { isTrue } from '../column-values.js';
import type { Knex } from 'knex';
import type { Database } from '../database.js';
import type { EndedCall, KeyState, IdempotentCall } from './idempotency-types.js';
import { excessOf, type Weight } from '../eviction.js';
import { StoreError } from '../store-error.js';

/** A row of `idempotency_keys`. The call runs as long as `process_id` is set. */
export interface CallRow {
  request_sha256: string;
  process_id: string | null;
  status: number | null;
  answer: string | null;
}

interface Weighed {
  account_id: string;
  key_sha256: string;
  bytes: bigint | number;
}

/** The most answers evicted in one transaction, so that other writers wait only briefly. */
const EVICTED_AT_ONCE = 500;

/** The state of a key that is in use, for a call that sends it again. */
export function keyStateOf(row: CallRow, { request_sha256 }: IdempotentCall): KeyState {
  if (row.request_sha256 !== request_sha256) return { is: 'other' };
  if (row.process_id !== null) return { is: 'running' };
  const { status, answer: text } = row;
  return { is: 'answered', answer: status === null || text === null ? null : { status, text } };
}

/** The error of a process that was taken for dead: it lost its keys, and must not charge. */
export function lostOwnership({ request_id }: IdempotentCall): StoreError {
  return new StoreError(`The Idempotency-Key of request ${request_id} is another call's by now.`);
}

/** Stores an answer, within a transaction. Throws `StoreError` if another call has the key. */
export async function keepAnswer(
  trx: Knex.Transaction,
  { answer, ...call }: EndedCall,
): Promise<void> {
  const kept: unknown[] = await trx('idempotency_keys')
    .insert({ ...call, status: answer?.status ?? null, answer: answer?.text ?? null })
    .onConflict(['account_id', 'key_sha256'])
    .merge({
      process_id: null,
      status: answer?.status ?? null,
      answer: answer?.text ?? null,
      free: false,
    })
    .where('idempotency_keys.request_id', call.request_id)
    .returning('request_id');
  if (kept.length === 0) throw lostOwnership(call);
}

/** Deletes a call, answered or not, within the transaction that ends its task. */
export async function forgetCall(
  trx: Knex.Transaction,
  { account_id, key_sha256, request_id }: IdempotentCall,
): Promise<void> {
  await trx('idempotency_keys').where({ account_id, key_sha256, request_id }).delete();
}

/** See `IdempotencyStore.sweep`. */
export async function sweepAnswers(
  database: Database,
  now_ms: number,
  total_bytes: number,
): Promise<number> {
  const removed = await database.read<number>((knex) =>
    knex('idempotency_keys').whereNull('process_id').where('due_ms', '<=', now_ms).delete(),
  );
  let excess = excessOf(await database.read(weights), total_bytes);
  while (excess) {
    const { account_id, only_free } = excess;
    excess = await database.write(async (trx) => {
      // Other processes may sweep too: weigh again once these rows are locked.
      const oldest = await oldestAnswers(trx, account_id, only_free);
      const left = excessOf(await weights(trx), total_bytes);
      if (left?.account_id !== account_id || left.only_free !== only_free) return left;
      await evict(trx, oldest, left.bytes);
      return excessOf(await weights(trx), total_bytes);
    });
  }
  return removed;
}

async function weights(knex: Knex): Promise<Weight[]> {
  const rows = await knex('idempotency_keys')
    .whereRaw('octet_length(answer) is not null')
    .groupBy('account_id', 'free')
    .select<{ account_id: string; free: unknown; bytes: unknown }[]>(
      'account_id',
      'free',
      knex.raw('sum(octet_length(answer)) as bytes'),
    );
  return rows.map(({ account_id, free, bytes }) => ({
    account_id,
    free: isTrue(free),
    bytes: Number(bytes),
  }));
}

/** Locks the rows until the transaction ends, and skips rows that another process evicted. */
function oldestAnswers(
  trx: Knex.Transaction,
  account_id: string | null,
  only_free: boolean,
): Promise<Weighed[]> {
  const query = trx('idempotency_keys')
    .where({ account_id, ...(only_free && { free: true }) })
    .whereRaw('octet_length(answer) is not null');
  return query
    .orderBy('due_ms')
    .limit(EVICTED_AT_ONCE)
    .forUpdate()
    .select<Weighed[]>('account_id', 'key_sha256', trx.raw('octet_length(answer) as bytes'));
}

/** Evicts the oldest answers until so many bytes are free. */
async function evict(
  trx: Knex.Transaction,
  oldest: readonly Weighed[],
  excess: number,
): Promise<void> {
  const keys: [string, string][] = [];
  let gone = 0;
  for (const { account_id, key_sha256, bytes } of oldest) {
    if (gone >= excess) break;
    gone += Number(bytes);
    keys.push([account_id, key_sha256]);
  }
  await trx('idempotency_keys')
    .whereIn(['account_id', 'key_sha256'], keys)
    .update({ status: null, answer: null });
}
