import type { Knex } from 'knex';
import { addManagement } from './audit/audit-migration.js';
import { addRatesAndRotation } from './keys/key-terms-migration.js';
import { keepCosts } from './ledger/cost-migration.js';
import { addUsageDays } from './ledger/usage-migration.js';
import { createAllowances } from './limits/allowances.js';
import { createPriceHistory } from './prices/price-history.js';
import { createRates } from './rates/rate-migration.js';
import { createRests } from './rests/rests.js';
import { addAccountDays, numberRequests, recordRequests } from './requests/request-migration.js';
import { nameAgents } from './requests/agent-migration.js';
import { createContract } from './contract.js';
import { isOnPostgres } from './database.js';
import type { MigrationStep } from './migration-steps.js';
import { addReconciliations } from './reconcile/reconciliation-migration.js';

/** What a migration does to the programs and the calls that use the store meanwhile. */
export type Migration = {
  /** Without a file extension, so that it is the same from source and when compiled. */
  name: string;
} & (Expansion | Contraction) &
  (AtOnce | BesideCalls);

/** Programs that do not know it go on serving the store. */
interface Expansion {
  kind: 'expands';
}

/** Takes away, or changes, what older programs use: whoever serves must know migration `lowest`. */
interface Contraction {
  kind: 'contracts';
  lowest: number;
}

/**
 * Runs in a transaction. `quick` locks tables for a moment; `indexes` builds an index while writes
 * of its table wait; `rewrites` changes rows while writes of them wait.
 */
interface AtOnce {
  effect: 'quick' | 'indexes' | 'rewrites';
  up: (trx: Knex) => Promise<void>;
}

/** On PostgreSQL calls go on meanwhile. */
interface BesideCalls {
  effect: 'beside_calls';
  up?: never;
  steps: readonly MigrationStep[];
}

/** Append-only: a migration that has been released is never changed, moved or taken away. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '001-accounts', kind: 'expands', effect: 'quick', up: createAccounts },
  { name: '002-tasks', kind: 'expands', effect: 'quick', up: createTasks },
  { name: '003-pictures', kind: 'expands', effect: 'quick', up: createPictures },
  { name: '004-people', kind: 'expands', effect: 'indexes', up: createPeople },
  { name: '005-operator', kind: 'expands', effect: 'indexes', up: letOperatorsSee },
  { name: '006-idempotency', kind: 'expands', effect: 'quick', up: createIdempotencyKeys },
  { name: '007-weights', kind: 'expands', effect: 'indexes', up: weighAnswers },
  { name: '008-uncollected', kind: 'expands', effect: 'quick', up: noteUncollected },
  { name: '009-shares', kind: 'expands', effect: 'indexes', up: shareKept },
  { name: '010-token-classes', kind: 'expands', effect: 'quick', up: countClasses },
  { name: '011-requests', kind: 'expands', effect: 'quick', up: recordRequests },
  { name: '012-management', kind: 'expands', effect: 'indexes', up: addManagement },
  { name: '013-alerts', kind: 'expands', effect: 'quick', up: createAlertClaims },
  { name: '014-prices', kind: 'expands', effect: 'quick', up: createPriceHistory },
  { name: '015-account-days', kind: 'expands', effect: 'rewrites', up: addAccountDays },
  {
    name: '016-standard-names',
    kind: 'contracts',
    lowest: 16,
    effect: 'indexes',
    up: useStandardNames,
  },
  { name: '017-request-numbers', kind: 'expands', effect: 'rewrites', up: numberRequests },
  { name: '018-allowances', kind: 'expands', effect: 'quick', up: createAllowances },
  { name: '019-key-terms', kind: 'expands', effect: 'indexes', up: addRatesAndRotation },
  { name: '020-rates', kind: 'expands', effect: 'quick', up: createRates },
  { name: '021-rests', kind: 'expands', effect: 'quick', up: createRests },
  { name: '022-agents', kind: 'contracts', lowest: 22, effect: 'rewrites', up: nameAgents },
  { name: '023-cache-hours', kind: 'expands', effect: 'quick', up: countHourWrites },
  { name: '024-reconciliations', kind: 'expands', effect: 'quick', up: addReconciliations },
  { name: '025-costs', kind: 'expands', effect: 'quick', up: keepCosts },
  { name: '026-contract', kind: 'contracts', lowest: 26, effect: 'quick', up: createContract },
  { name: '027-boxes', kind: 'expands', effect: 'quick', up: addBoxes },
  { name: '028-usage-days', kind: 'expands', effect: 'quick', up: addUsageDays },
  { name: '029-fewer-pages', kind: 'expands', effect: 'quick', up: writeFewerPages },
  { name: '030-image-tokens', kind: 'expands', effect: 'quick', up: countImageTokens },
  { name: '031-task-fees', kind: 'expands', effect: 'quick', up: addTaskFees },
];

async function createAccounts(trx: Knex): Promise<void> {
  await trx.schema.createTable('accounts', (table) => {
    table.text('id').notNullable().primary();
    table.text('name').notNullable().unique();
    table.bigInteger('balance_nano').notNullable();
    table.bigInteger('held_nano').notNullable();
    table.bigInteger('created_ms').notNullable();
    table.check('held_nano >= 0', [], 'accounts_held_not_negative');
  });
  await trx.schema.createTable('keys', (table) => {
    table.text('id').notNullable().primary();
    table.text('account_id').notNullable().references('accounts.id');
    table.text('name').notNullable();
    table.text('prefix').notNullable();
    table.text('secret_sha256').notNullable().unique();
    table.bigInteger('created_ms').notNullable();
    table.bigInteger('last_used_ms');
    table.bigInteger('revoked_ms');
  });
  await createHolds(trx);
  await createLedger(trx);
}

async function createHolds(trx: Knex): Promise<void> {
  await trx.schema.createTable('processes', (table) => {
    table.text('id').notNullable().primary();
    table.text('place').notNullable();
    table.bigInteger('pid').notNullable();
    table.bigInteger('started_ms').notNullable();
    table.bigInteger('seen_ms').notNullable();
  });
  await trx.schema.createTable('holds', (table) => {
    table.text('request_id').notNullable().primary();
    table.text('account_id').notNullable().references('accounts.id');
    table.text('process_id').notNullable().references('processes.id');
    table.bigInteger('amount_nano').notNullable();
    table.bigInteger('created_ms').notNullable();
    table.check('amount_nano >= 0', [], 'holds_amount_not_negative');
  });
}

/** `key_id` is no foreign key: the ledger keeps every charge, also of a key that was deleted. */
async function createLedger(trx: Knex): Promise<void> {
  await trx.schema.createTable('ledger', (table) => {
    table.bigIncrements('id');
    table.text('account_id').notNullable().references('accounts.id');
    table.text('kind').notNullable();
    table.text('reference').notNullable();
    table.bigInteger('amount_nano').notNullable();
    table.text('key_id');
    table.text('model');
    table.text('provider');
    table.text('usage');
    table.boolean('estimated').notNullable();
    table.bigInteger('created_ms').notNullable();
    table.unique(['account_id', 'kind', 'reference']);
    table.index(['account_id', 'id']);
    table.check("kind in ('credit', 'charge', 'refund')", [], 'ledger_kind_known');
  });
}

/** `process_id` is no foreign key: a task outlives its process. */
async function createTasks(trx: Knex): Promise<void> {
  await trx.schema.createTable('tasks', (table) => {
    table.text('id').notNullable().primary();
    table.text('account_id').notNullable().references('accounts.id');
    table.text('key_id').notNullable();
    table.text('process_id').notNullable();
    table.text('model').notNullable();
    table.text('provider').notNullable();
    table.text('upstream_model').notNullable();
    table.text('call').notNullable();
    table.text('jobs').notNullable();
    table.text('status').notNullable();
    table.text('error');
    table.text('content_id').unique();
    table.bigInteger('price_nano').notNullable();
    table.bigInteger('hold_nano').notNullable();
    table.bigInteger('charge_nano');
    table.bigInteger('version').notNullable();
    table.bigInteger('polled_ms').notNullable();
    table.bigInteger('due_ms').notNullable().index();
    table.bigInteger('created_ms').notNullable();
    table.bigInteger('updated_ms').notNullable();
    table.index(['account_id', 'created_ms']);
    table.index(['status', 'process_id']);
    table.check('hold_nano >= 0', [], 'tasks_hold_not_negative');
    table.check(
      "status in ('SUBMITTING', 'IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED')",
      [],
      'tasks_status_known',
    );
  });
  await trx.schema.createTable('contents', (table) => {
    table.text('task_id').notNullable().references('tasks.id').onDelete('CASCADE');
    table.integer('position').notNullable();
    table.text('place').notNullable();
    table.primary(['task_id', 'position']);
  });
}

/** SQLite keeps the bytes beside itself, so `data` is for the other one. */
async function createPictures(trx: Knex): Promise<void> {
  await trx.schema.createTable('pictures', (table) => {
    table.text('id').notNullable().primary();
    table.bigInteger('size_bytes').notNullable();
    table.bigInteger('due_ms').notNullable().index();
    table.binary('data');
  });
}

/** What the processes tell of themselves, and the tasks of all accounts in the order of time. */
async function letOperatorsSee(trx: Knex): Promise<void> {
  await trx.schema.alterTable('processes', (table) => {
    table.text('note');
  });
  await trx.schema.alterTable('tasks', (table) => {
    table.index(['created_ms', 'id']);
  });
}

/** Whatever is known by a secret is found by its SHA-256 (hex), and holds the secret nowhere. */
async function createPeople(trx: Knex): Promise<void> {
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

/** The store counts holds and spending for keys with a limit only; their holds name the key. */
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

/** For as long as a process has it, the row lives and dies with that one. */
async function createIdempotencyKeys(trx: Knex): Promise<void> {
  await trx.schema.createTable('idempotency_keys', (table) => {
    table.text('account_id').notNullable().references('accounts.id');
    table.text('key_sha256').notNullable();
    table.text('asked_sha256').notNullable();
    table.text('request_id').notNullable();
    table.text('process_id').references('processes.id').onDelete('CASCADE').index();
    table.integer('status');
    table.text('answer');
    table.bigInteger('due_ms').notNullable().index();
    table.primary(['account_id', 'key_sha256']);
  });
}

/** Adds an index that yields the size of the answers, and the oldest, without the table. */
async function weighAnswers(trx: Knex): Promise<void> {
  await trx.schema.alterTable('idempotency_keys', (table) => {
    table.dropIndex('due_ms');
  });
  await trx.raw(
    'create index idempotency_keys_weight on idempotency_keys (due_ms, octet_length(answer))',
  );
}

/** Adds an index that yields the size and the oldest answers of each account. */
async function shareAnswers(trx: Knex): Promise<void> {
  await trx.schema.alterTable('idempotency_keys', (table) => {
    table.boolean('free').notNullable().defaultTo(false);
  });
  await trx.raw('drop index idempotency_keys_weight');
  await trx.raw('create index idempotency_keys_due on idempotency_keys (due_ms)');
  await trx.raw(
    `create index idempotency_keys_share
       on idempotency_keys (account_id, free, due_ms, octet_length(answer))`,
  );
}

/** Adds the part of a charge that the account and the key could not pay. */
async function noteUncollected(trx: Knex): Promise<void> {
  await trx.schema.alterTable('ledger', (table) => {
    table.bigInteger('uncollected_nano').notNullable().defaultTo(0);
  });
}

/** Adds the account of kept answers and images, and whether they were free. */
async function shareKept(trx: Knex): Promise<void> {
  await shareAnswers(trx);
  await trx.schema.alterTable('pictures', (table) => {
    table.text('account_id');
    table.boolean('free').notNullable().defaultTo(false);
    table.index(['account_id', 'free', 'due_ms', 'size_bytes'], 'pictures_share');
  });
}

/** Adds the tokens of a charge by class; null where the upstream has not named them. */
async function countClasses(trx: Knex): Promise<void> {
  await trx.schema.alterTable('ledger', (table) => {
    table.bigInteger('cached_tokens');
    table.bigInteger('cache_write_tokens');
    table.bigInteger('audio_input_tokens');
    table.bigInteger('audio_output_tokens');
    table.bigInteger('reasoning_tokens');
  });
}

/** Adds what a process says of itself; null from one of an older version. */
async function addBoxes(trx: Knex): Promise<void> {
  await trx.schema.alterTable('processes', (table) => {
    table.text('box');
  });
}

/** Adds the tokens that were written into a cache for an hour; null in the rows of before. */
async function countHourWrites(trx: Knex): Promise<void> {
  for (const name of ['ledger', 'requests']) {
    await trx.schema.alterTable(name, (table) => {
      table.bigInteger('cache_write_1h_tokens');
    });
  }
  await trx.schema.alterTable('request_totals', (table) => {
    table.bigInteger('cache_write_1h_tokens').notNullable().defaultTo(0);
  });
}

/** Adds the tokens of images; null in the rows of before, and 0 in sums. */
async function countImageTokens(trx: Knex): Promise<void> {
  const counts = ['image_input_tokens', 'image_output_tokens'];
  for (const name of ['ledger', 'requests']) {
    await trx.schema.alterTable(name, (table) => {
      for (const count of counts) table.bigInteger(count);
    });
  }
  await trx.schema.alterTable('request_totals', (table) => {
    for (const count of counts) table.bigInteger(count).notNullable().defaultTo(0);
  });
  await trx.schema.alterTable('usage_days', (table) => {
    for (const count of counts) table.double(count).notNullable().defaultTo(0);
  });
}

/** Adds what a task costs for each of its jobs. */
async function addTaskFees(trx: Knex): Promise<void> {
  await trx.schema.alterTable('tasks', (table) => {
    table.bigInteger('fee_nano').notNullable().defaultTo(0);
    table.bigInteger('upstream_fee_nano').notNullable().defaultTo(0);
  });
}

/** Adds the alerts that were told, so that processes and restarts do not repeat them. */
async function createAlertClaims(trx: Knex): Promise<void> {
  await trx.schema.createTable('alert_claims', (table) => {
    table.text('condition').notNullable().primary();
    table.bigInteger('told_ms').notNullable();
  });
}

/** Renames a table and two columns, with their indexes, to the words that the code has for them. */
async function useStandardNames(trx: Knex): Promise<void> {
  await trx.raw('alter table idempotency_keys rename column asked_sha256 to request_sha256');
  await trx.raw('alter table alert_claims rename column told_ms to reported_ms');
  await trx.raw('drop index pictures_due_ms_index');
  await trx.raw('drop index pictures_share');
  await trx.raw('alter table pictures rename to hosted_images');
  if (isOnPostgres(trx)) {
    await trx.raw('alter index pictures_pkey rename to hosted_images_pkey');
  }
  await trx.schema.alterTable('hosted_images', (table) => {
    table.index(['due_ms']);
    table.index(['account_id', 'free', 'due_ms', 'size_bytes'], 'hosted_images_share');
  });
}

/**
 * Takes away what costs each call a page and no read needs: the index of the ledger by time, and in
 * SQLite the row IDs of holds, beside which their key was an index of its own.
 */
async function writeFewerPages(trx: Knex): Promise<void> {
  await trx.raw('drop index ledger_account_id_created_ms_id_index');
  if (isOnPostgres(trx)) return;
  await trx.raw('alter table holds rename to holds_before');
  await trx.raw(`create table holds (
    request_id text not null primary key,
    account_id text not null references accounts (id),
    process_id text not null references processes (id),
    amount_nano bigint not null,
    created_ms bigint not null,
    key_id text,
    windows text,
    constraint holds_amount_not_negative check (amount_nano >= 0)
  ) without rowid`);
  const names = 'request_id, account_id, process_id, amount_nano, created_ms, key_id, windows';
  await trx.raw(`insert into holds (${names}) select ${names} from holds_before`);
  await trx.raw('drop table holds_before');
}
