import type { Knex } from 'knex';

/**
 * Adds what upstreams take for charges, requests and tasks, and the profit of totals. It is not
 * known of older ones, which have null, and count nothing in the totals.
 */
export async function keepCosts(trx: Knex): Promise<void> {
  await trx.schema.alterTable('ledger', (table) => {
    table.bigInteger('cost_nano');
  });
  await trx.schema.alterTable('requests', (table) => {
    table.bigInteger('upstream_cost_nano');
  });
  await trx.schema.alterTable('request_totals', (table) => {
    table.bigInteger('upstream_cost_nano').notNullable().defaultTo(0);
    table.bigInteger('profit_nano').notNullable().defaultTo(0);
  });
  await trx.schema.alterTable('tasks', (table) => {
    table.bigInteger('upstream_price_nano');
  });
}
