import type { Knex } from 'knex';

/**
 * Creates the counters of rates, and the requests at once that they count. A process that has died
 * takes its requests along.
 */
export async function createRates(trx: Knex): Promise<void> {
  await trx.schema.createTable('rates', (table) => {
    table.text('counter').notNullable().primary();
    table.bigInteger('window_ms').notNullable();
    table.bigInteger('requests').notNullable();
    table.bigInteger('tokens').notNullable();
    table.bigInteger('in_flight').notNullable();
  });
  await trx.schema.createTable('rate_slots', (table) => {
    table.text('request_id').notNullable();
    table.text('counter').notNullable().index();
    table.text('process_id').notNullable().references('processes.id').onDelete('CASCADE').index();
    table.bigInteger('created_ms').notNullable();
    table.primary(['request_id', 'counter']);
  });
}
