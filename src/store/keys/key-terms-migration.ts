import type { Knex } from 'knex';

/** Adds the rates of keys and accounts (JSON), and the secret before the last rotation of a key. */
export async function addRatesAndRotation(trx: Knex): Promise<void> {
  await trx.schema.alterTable('accounts', (table) => {
    table.text('rates');
  });
  await trx.schema.alterTable('keys', (table) => {
    table.text('rates');
    table.text('previous_sha256').index();
    table.bigInteger('previous_until_ms');
  });
}
