import type { Knex } from 'knex';

const KEY = 'period, start_ms, account_id, key_id, model, provider, status';
const COUNTS = `calls failed estimated fallbacks prompt_tokens completion_tokens cached_tokens
  cache_write_tokens audio_input_tokens audio_output_tokens reasoning_tokens cost_nano
  uncollected_nano`.split(/\s+/u);
const ADDED = ['moved', 'saved_nano', 'lost_nano'];

/**
 * Adds the client program of charges and requests, and what caches saved and moved conversations
 * lost. It is not known of older ones. The totals are split by the program too.
 */
export async function nameAgents(trx: Knex): Promise<void> {
  await trx.schema.alterTable('ledger', (table) => {
    table.text('agent');
    table.bigInteger('saved_nano');
    table.bigInteger('lost_nano');
  });
  await trx.schema.alterTable('requests', (table) => {
    table.text('agent');
    table.bigInteger('saved_nano').notNullable().defaultTo(0);
    table.bigInteger('lost_nano').notNullable().defaultTo(0);
  });
  const { config } = trx.client as { config: { client: string } };
  if (config.client === 'pg') await splitInPostgres(trx);
  else await splitInSqlite(trx);
}

async function splitInPostgres(trx: Knex): Promise<void> {
  await trx.raw(`alter table request_totals
    add column agent text not null default '',
    ${ADDED.map((name) => `add column ${name} bigint not null default 0`).join(', ')},
    drop constraint request_totals_pkey,
    add primary key (${KEY}, agent)`);
}

/** SQLite changes no primary key: the rows are copied. */
async function splitInSqlite(trx: Knex): Promise<void> {
  const old = [KEY, ...COUNTS, 'took_ms', 'own_ms', 'first_id', 'last_id'].join(', ');
  await trx.raw('alter table request_totals rename to request_totals_before');
  await trx.raw(`create table request_totals (
    period text not null,
    start_ms bigint not null,
    account_id text not null,
    key_id text not null,
    model text not null,
    provider text not null,
    status integer not null,
    agent text not null default '',
    ${COUNTS.map((name) => `${name} bigint not null`).join(', ')},
    ${ADDED.map((name) => `${name} bigint not null default 0`).join(', ')},
    took_ms double precision not null,
    own_ms double precision not null,
    first_id text not null,
    last_id text not null,
    primary key (${KEY}, agent)
  ) without rowid`);
  await trx.raw(`insert into request_totals (${old}) select ${old} from request_totals_before`);
  await trx.raw('drop table request_totals_before');
}
