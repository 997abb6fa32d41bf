import type { Knex } from 'knex';
import { isOnPostgres } from '../database.js';

/**
 * Adds suspension, refunds of charges, management tokens and the audit log. The database itself
 * refuses to change or delete a row of the audit log.
 */
export async function addManagement(trx: Knex): Promise<void> {
  await trx.schema.alterTable('accounts', (table) => {
    table.bigInteger('suspended_ms');
  });
  await trx.schema.alterTable('ledger', (table) => {
    table.text('refund_of');
  });
  await trx.raw(
    'create index ledger_refunds on ledger (account_id, refund_of) where refund_of is not null',
  );
  await trx.schema.createTable('management_tokens', (table) => {
    table.text('id').notNullable().primary();
    table.text('name').notNullable();
    table.text('prefix').notNullable();
    table.text('secret_sha256').notNullable().unique();
    table.text('scopes').notNullable();
    table.bigInteger('created_ms').notNullable();
    table.bigInteger('last_used_ms');
    table.bigInteger('expires_ms');
    table.bigInteger('revoked_ms');
  });
  await createAudit(trx);
}

/** There are no foreign keys: the log outlives the rows that it names. */
async function createAudit(trx: Knex): Promise<void> {
  await trx.schema.createTable('audit', (table) => {
    table.bigIncrements('id');
    table.bigInteger('time_ms').notNullable();
    table.text('actor').notNullable();
    table.text('actor_id');
    table.text('actor_name');
    table.text('action').notNullable();
    table.text('subject').notNullable();
    table.text('account_id');
    table.text('before');
    table.text('after');
    table.text('request_id');
    table.index(['account_id', 'id']);
    table.index(['time_ms']);
  });
  if (isOnPostgres(trx)) {
    await trx.raw(`create function keep_audit() returns trigger as $$ begin
      raise exception 'The audit log is never changed.'; end $$ language plpgsql`);
    await trx.raw(`create trigger audit_is_kept before update or delete or truncate on audit
      for each statement execute function keep_audit()`);
    return;
  }
  for (const operation of ['update', 'delete']) {
    await trx.raw(`create trigger audit_is_kept_at_${operation} before ${operation} on audit begin
      select raise(abort, 'The audit log is never changed.'); end`);
  }
}
