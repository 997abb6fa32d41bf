import type { Knex } from 'knex';
import type { Database } from './database.js';
import type { AnsweredCall, Begun, RepeatableCall } from './idempotency-types.js';
import { StoreError } from './types.js';

/** A row of `idempotency_keys`: a call runs as long as a process has it. */
export interface CallRow {
  asked_sha256: string;
  process_id: string | null;
  status: number | null;
  answer: string | null;
}

/** For as long as a process has it, the row lives and dies with that one. */
export async function createIdempotencyKeys(trx: Knex): Promise<void> {
  await trx.schema.createTable('idempotency_keys', (table) => {
    table.text('account_id').notNullable().references('accounts.id');
    table.text('key_sha256').notNullable();
    table.text('asked_sha256').notNullable();
    table.text('request_id').notNullable();
    table.text('process_id').references('processes.id').onDelete('CASCADE').index();
    table.integer('status');
    table.text('answer');
    table.bigInteger('due_ms').notNullable().index();
    table.primary(['account_id', 'key_sha256']);
  });
}

/** What a key that is in use means for a call that brings it again. */
export function begunOf(row: CallRow, { asked_sha256 }: RepeatableCall): Begun {
  if (row.asked_sha256 !== asked_sha256) return { is: 'other' };
  if (row.process_id !== null) return { is: 'running' };
  const { status, answer: text } = row;
  return { is: 'answered', answer: status === null || text === null ? null : { status, text } };
}

/** A process that was taken to be gone loses its keys, and must not charge for them then. */
export function takenOver({ request_id }: RepeatableCall): StoreError {
  return new StoreError(`The Idempotency-Key of request ${request_id} is another call's by now.`);
}

/** Keeps an answer within a transaction. Throws `StoreError` where another call has the key. */
export async function keepAnswer(
  trx: Knex.Transaction,
  { answer, ...call }: AnsweredCall,
): Promise<void> {
  const kept: unknown[] = await trx('idempotency_keys')
    .insert({ ...call, status: answer?.status ?? null, answer: answer?.text ?? null })
    .onConflict(['account_id', 'key_sha256'])
    .merge({ process_id: null, status: answer?.status ?? null, answer: answer?.text ?? null })
    .where('idempotency_keys.request_id', call.request_id)
    .returning('request_id');
  if (kept.length === 0) throw takenOver(call);
}

/** Forgets a call, answered or not, within the transaction that undoes what it began. */
export async function forgetCall(
  trx: Knex.Transaction,
  { account_id, key_sha256, request_id }: RepeatableCall,
): Promise<void> {
  await trx('idempotency_keys').where({ account_id, key_sha256, request_id }).delete();
}

/** See `IdempotencyStore.sweep`. */
export function sweepAnswers(database: Database, now_ms: number): Promise<number> {
  return database.read((knex) =>
    knex('idempotency_keys').whereNull('process_id').where('due_ms', '<=', now_ms).delete(),
  );
}
