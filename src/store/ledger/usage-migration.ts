import type { Knex } from 'knex';

const SPLIT = ['model', 'key_id', 'agent'];
const SUMS = ['amount', 'cost', 'profit', 'saved', 'lost'].flatMap((name) => [
  `${name}_dollars`,
  `${name}_rest`,
]);
const COUNTS =
  `prompt_tokens completion_tokens images video_seconds cached_tokens cache_write_tokens
  cache_write_1h_tokens audio_input_tokens audio_output_tokens reasoning_tokens`.split(/\s+/u);

/**
 * Adds the usage of days, and the last entry of the ledger that is in it. Old entries are added by
 * the gateway, as new ones are.
 */
export async function addUsageDays(trx: Knex): Promise<void> {
  await trx.schema.createTable('usage_days', (table) => {
    table.text('account_id').notNullable();
    table.bigInteger('day_ms').notNullable();
    for (const name of SPLIT) table.text(name).notNullable();
    for (const name of ['calls', ...SUMS]) table.bigInteger(name).notNullable();
    for (const name of COUNTS) table.double(name).notNullable();
    table.primary(['account_id', 'day_ms', ...SPLIT]);
  });
  await trx.schema.alterTable('request_roll_up', (table) => {
    table.bigInteger('ledger_id').notNullable().defaultTo(0);
  });
}
