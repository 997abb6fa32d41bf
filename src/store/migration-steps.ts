import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { StorePlace } from '../core/store-place.js';
import { openDatabase, type Database } from './database.js';

/**
 * A part of a migration that works while calls go on. It is begun anew after a break, so one that
 * was done must do no harm the second time.
 */
export type MigrationStep = BuiltIndex | BackFill;

/** An index, such as `{ index: 'ledger_model', on: 'ledger (model) where model is not null' }`. */
interface BuiltIndex {
  index: string;
  on: string;
  is_unique?: boolean;
}

/**
 * Changes the next rows, at most `limit`, and resolves with their number: with 0 once none is left.
 * Each call has a transaction of its own.
 */
interface BackFill {
  fill: (trx: Knex, limit: number) => Promise<number>;
}

/** Rows of a transaction: they stay locked for milliseconds. */
const BATCH_ROWS = 1_000;
/** Leaves the disk to the calls between two batches. */
const PAUSE_MS = 20;

/** Takes the steps within a transaction, for a store that nobody else uses. */
export async function takeSteps(trx: Knex, steps: readonly MigrationStep[]): Promise<void> {
  for (const step of steps) {
    if ('index' in step) await trx.raw(`create ${indexOf(step, '')}`);
    else while ((await step.fill(trx, BATCH_ROWS)) > 0);
  }
}

/** Takes the steps on a PostgreSQL that others use, outside of the transaction of the migration. */
export async function takeStepsBesideCalls(
  place: StorePlace,
  steps: readonly MigrationStep[],
): Promise<void> {
  const database = openDatabase({ ...place, statement_ms: 0 });
  try {
    for (const step of steps) {
      if ('index' in step) await database.read((knex) => buildIndex(knex, step));
      else await backFill(database, step);
    }
  } finally {
    await database.close();
  }
}

/** An index whose building was broken off is invalid: it costs writes, and no read uses it. */
async function buildIndex(knex: Knex, step: BuiltIndex): Promise<void> {
  const found: { valid: boolean } | undefined = await knex('pg_index')
    .join('pg_class', 'pg_class.oid', 'pg_index.indexrelid')
    .where('pg_class.relname', step.index)
    .whereRaw('pg_class.relnamespace = current_schema()::regnamespace')
    .first(knex.raw('indisvalid as valid'));
  if (found?.valid) return;
  if (found) await knex.raw(`drop index concurrently ${step.index}`);
  await knex.raw(`create ${indexOf(step, 'concurrently')}`);
}

function indexOf({ index, on, is_unique = false }: BuiltIndex, how: string): string {
  return `${is_unique ? 'unique ' : ''}index ${how} ${index} on ${on}`;
}

async function backFill(database: Database, { fill }: BackFill): Promise<void> {
  while ((await database.write((trx) => fill(trx, BATCH_ROWS))) > 0) await sleep(PAUSE_MS);
}
