import type { Knex } from 'knex';
import { isOnPostgres } from '../database.js';
import { TOTALS_COUNTS, TOTALS_KEY, totalsValues } from './request-migration.js';

const KEY = TOTALS_KEY.map(([name]) => name).join(', ');
const ADDED = ['moved', 'saved_nano', 'lost_nano'].map(
  (name) => `${name} bigint not null default 0`,
);

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
  if (isOnPostgres(trx)) await splitInPostgres(trx);
  else await splitInSqlite(trx);
}

async function splitInPostgres(trx: Knex): Promise<void> {
  await trx.raw(`alter table request_totals
    add column agent text not null default '',
    ${ADDED.map((column) => `add column ${column}`).join(', ')},
    drop constraint request_totals_pkey,
    add primary key (${KEY}, agent)`);
}

/** SQLite changes no primary key: the rows are copied. */
async function splitInSqlite(trx: Knex): Promise<void> {
  const old = [KEY, ...TOTALS_COUNTS, 'took_ms', 'own_ms', 'first_id', 'last_id'].join(', ');
  await trx.raw('alter table request_totals rename to request_totals_before');
  await trx.raw(`create table request_totals (
    ${TOTALS_KEY.map(([name, type]) => `${name} ${type} not null`).join(', ')},
    agent text not null default '',
    ${totalsValues('text', ADDED)},
    primary key (${KEY}, agent)
  ) without rowid`);
  await trx.raw(`insert into request_totals (${old}) select ${old} from request_totals_before`);
  await trx.raw('drop table request_totals_before');
}
