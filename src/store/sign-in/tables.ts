import type { Knex } from 'knex';

/** Whatever is known by a secret is found by its SHA-256 (hex), and holds the secret nowhere. */
export async function createPeople(trx: Knex): Promise<void> {
  await addKeyTerms(trx);
  await trx.schema.createTable('identities', (table) => {
    table.text('provider').notNullable();
    table.text('subject').notNullable();
    table.text('account_id').notNullable().references('accounts.id').index();
    table.text('email').notNullable();
    table.bigInteger('created_ms').notNullable();
    table.primary(['provider', 'subject']);
  });
  await trx.schema.createTable('sessions', (table) => {
    table.text('secret_sha256').notNullable().primary();
    table.text('account_id').notNullable().references('accounts.id');
    table.text('email');
    table.text('via').notNullable();
    table.boolean('operator').notNullable();
    table.bigInteger('created_ms').notNullable();
    table.bigInteger('seen_ms').notNullable();
    table.index(['account_id', 'seen_ms']);
  });
  await trx.schema.createTable('sign_in_links', (table) => {
    table.text('secret_sha256').notNullable().primary();
    table.text('account_id').notNullable().references('accounts.id');
    table.boolean('operator').notNullable();
    table.bigInteger('due_ms').notNullable();
  });
  await trx.schema.createTable('pending_sign_ins', (table) => {
    table.text('secret_sha256').notNullable().primary();
    table.text('provider').notNullable();
    table.text('return_to').notNullable();
    table.bigInteger('due_ms').notNullable().index();
  });
}

/** What is held and spent is counted for keys with a limit only; a hold says then whose it is. */
async function addKeyTerms(trx: Knex): Promise<void> {
  await trx.schema.alterTable('keys', (table) => {
    table.bigInteger('expires_ms');
    table.text('models');
    table.bigInteger('limit_nano');
    table.bigInteger('held_nano').notNullable().defaultTo(0);
    table.bigInteger('spent_nano').notNullable().defaultTo(0);
    table.index(['account_id']);
  });
  await trx.schema.alterTable('holds', (table) => {
    table.text('key_id');
  });
  await trx.schema.alterTable('ledger', (table) => {
    table.index(['account_id', 'created_ms', 'id']);
  });
}
