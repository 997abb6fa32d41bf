import type { Knex } from 'knex';

/** Adds the upstream's name of the model to charges, and the last comparisons with its bills. */
export async function addReconciliations(trx: Knex): Promise<void> {
  await trx.schema.alterTable('ledger', (table) => {
    table.text('upstream_model');
  });
  await trx.schema.createTable('reconciliations', (table) => {
    table.text('providers').notNullable().primary();
    table.bigInteger('made_ms').notNullable();
    table.text('report').notNullable();
  });
}
