import { setTimeout as sleep } from 'node:timers/promises';
import { account, accounts, createAccount, editAccount } from './accounts/accounts.js';
import { resume, suspend } from './accounts/suspension.js';
import { auditEntries } from './audit/audit-log.js';
import { auditReload } from './audit/audit-reload.js';
import { placeOfStore, type StorePlace } from '../core/store-place.js';
import { openDatabase, readClock, type Database } from './database.js';
import { refuseEmpty, refuseMissingFile } from './missing.js';
import { explainOpenError, StoreUnreachable, WaitEnded } from './store-error.js';
import type { HotPath } from './hot-path.js';
import { editKey, rotateKey } from './keys/key-changes.js';
import { createKey, isKey, key, keys, revokeKey } from './keys/keys.js';
import { credit, ledger } from './ledger/ledger.js';
import { readAllowances } from './limits/allowance-states.js';
import { ZoneCalendar } from './limits/zone-calendar.js';
import { refund, refundable } from './ledger/refund.js';
import {
  isMigrated,
  migrateOpened,
  outdatedFault,
  refuseUnusable,
  type MigrateOptions,
} from './migrate.js';
import { sweepAnswers } from './idempotency/idempotency-keys.js';
import {
  newProcess,
  forgetProcess,
  LEASE_MS,
  liveNotes,
  liveProcesses,
  ownRows,
  recover,
  type Process,
  Watch,
} from './leases/leases.js';
import { codeOf } from './retry.js';
import { openSignInStore } from './sign-in/identities.js';
import { openAlertClaims } from './alerts/alert-claims.js';
import { openPriceHistory } from './prices/price-history.js';
import { openReconciliations } from './reconcile/reconciliations.js';
import { openRests } from './rests/rests.js';
import { MemoryRates } from './rates/memory-rates.js';
import type { RateStore } from './rates/rate-types.js';
import { SharedRates } from './rates/shared-rates.js';
import { openRequests } from './requests/requests.js';
import { openHostedImages } from './images/hosted-images.js';
import { openTasks } from './tasks/tasks.js';
import type { Store } from './store-types.js';
import { openTokens } from './tokens/management-tokens.js';
import { spend } from './ledger/spend.js';
import { usage } from './ledger/usage.js';
import { openHolds } from './verify/open-holds.js';
import { verify } from './verify/verify.js';

export interface StoreOptions {
  /** Milliseconds since 1970. */
  now: () => number;
  /** The time zone of the windows of allowances; UTC where it is left out. */
  time_zone?: string | undefined;
  /** The ID under which this process takes its holds; a new one where it is left out. */
  process_id?: string;
  /** Milliseconds by a clock that nobody sets; the process's own where it is left out. */
  elapsed_ms?: () => number;
  /**
   * What is done with a store that is not there, or of an older version: `serving`, the default,
   * makes and migrates it; `creating` makes it; `using` does neither. Others may serve the store.
   * One that a newer version migrated is used as it is, as far as its contract allows it.
   */
  purpose?: 'serving' | 'creating' | 'using';
  /**
   * Where rates are counted: in the `store`, the default, so that all processes share the counters,
   * or in `memory`, for the one process of a SQLite file.
   */
  rates?: 'store' | 'memory';
  /** How long to wait for a PostgreSQL that is away, in place of failing at once. */
  wait_ms?: number;
  /** Called once if it is waited for. */
  onAway?: () => void;
  /** Called with the names of migrations, which may take long, before they are applied. */
  onMigrating?: MigrateOptions['onMigrating'];
  /** Called once, if processes that a migration makes too old are waited for. */
  onOlder?: MigrateOptions['onOlder'];
  /** Ends a wait: `openStore` throws `WaitEnded` at once. */
  stopped?: Promise<unknown> | undefined;
}

/**
 * Opens a place, or the URL of one (`sqlite:PATH` or `postgres://…`), and makes or migrates the
 * store as the purpose says. Throws `StoreError` where that cannot be done.
 */
export async function openStore(at: StorePlace | string, options: StoreOptions): Promise<Store> {
  return explainOpenError(async () => {
    const { purpose = 'serving' } = options;
    const place = placeOfStore(at);
    if (purpose === 'using') refuseMissingFile(place.url);
    const database = openDatabase(place);
    const self = newProcess(options.now, options.process_id);
    try {
      if (options.wait_ms !== undefined) await waitForStore(database, options);
      if (purpose === 'using') await refuseEmpty(database);
      const isNew = purpose === 'creating' && !(await isMigrated(database));
      if (purpose === 'serving' || isNew) await migrateOpened(database, options);
      else await refuseUnusable(database);
      const calendar = new ZoneCalendar(options.time_zone ?? 'UTC');
      const hot = await openHot(database, self, options.now, calendar);
      return assemble(database, hot, self, { ...options, calendar });
    } catch (error) {
      forgetProcess(self);
      const closed = database.close();
      // A connection to a host that is away may still be made for a long time.
      if (error instanceof WaitEnded) closed.catch(() => undefined);
      else await closed;
      throw error;
    }
  });
}

/** Waits until PostgreSQL answers. Throws what it says at the end, or what no wait can mend. */
async function waitForStore(
  database: Database,
  { wait_ms = 0, onAway, stopped }: StoreOptions,
): Promise<void> {
  if (database.dialect === 'sqlite') return;
  const timer = setTimeout(() => onAway?.(), QUIET_MS);
  const ended = stopped?.then(() => {
    throw new WaitEnded('the store has not answered');
  });
  try {
    await Promise.race([untilAnswer(database, wait_ms), ...(ended ? [ended] : [])]);
  } finally {
    clearTimeout(timer);
  }
}

async function untilAnswer(database: Database, wait_ms: number): Promise<void> {
  const began_ms = performance.now();
  for (;;) {
    try {
      await readClock(database);
      return;
    } catch (error) {
      const waited_ms = performance.now() - began_ms;
      if (!isAway(error) || waited_ms > wait_ms) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

/** So long it waits without a word. */
const QUIET_MS = 1_000;
const AGAIN_MS = 500;
/** A wrong password or certificate, a missing role or database: PostgreSQL is there. */
const WRONG = /^(28...|3D...|CERT_REFUSED)$/u;

function isAway(error: unknown): error is StoreUnreachable {
  return error instanceof StoreUnreachable && !WRONG.test(codeOf(error.cause));
}

/** Only the driver that is used is loaded. */
async function openHot(
  database: Database,
  self: Process,
  now: () => number,
  calendar: ZoneCalendar,
): Promise<HotPath> {
  if (database.dialect === 'sqlite') {
    const { SqliteHotPath } = await import('./sqlite/sqlite-hot-path.js');
    return new SqliteHotPath(database.location, self, now, calendar);
  }
  const { PostgresHotPath } = await import('./postgres/postgres-hot-path.js');
  return new PostgresHotPath(database.place, self, now, calendar);
}

function assemble(
  database: Database,
  hot: HotPath,
  self: Process,
  options: StoreOptions & { calendar: ZoneCalendar },
): Store {
  const { now, calendar, elapsed_ms = () => performance.now() } = options;
  const watch = new Watch(LEASE_MS);
  return {
    dialect: database.dialect,
    caller: hot.caller.bind(hot),
    hold: hot.hold.bind(hot),
    admit: hot.admit.bind(hot),
    charge: hot.charge.bind(hot),
    release: hot.release.bind(hot),
    idempotency: {
      begin: (call) => hot.idempotency.begin(call),
      answer: (call) => hot.idempotency.answer(call),
      forget: (call) => hot.idempotency.forget(call),
      sweep: (total_bytes) => sweepAnswers(database, now(), total_bytes),
    },
    requests: openRequests(database, hot.requests, now),
    rates: openRates(database, hot, self, options),
    prices: openPriceHistory(database, now),
    reconciliations: openReconciliations(database, now),
    tasks: openTasks(database, self, now),
    images: openHostedImages(database, now),
    alerts: openAlertClaims(database, now),
    rests: openRests(database, now),
    sign_in: openSignInStore(database, now),
    ...management(database, now),
    createAccount: (name, credit_nano, by) => createAccount(database, now(), name, credit_nano, by),
    editAccount: (account_id, change, by) => editAccount(database, now(), account_id, change, by),
    accounts: (page) => accounts(database, page),
    account: (id_or_name) => account(database, id_or_name),
    credit: (account_id, amount_nano, reference, by) =>
      credit(database, now(), account_id, amount_nano, reference, by),
    ...keyring(database, now),
    allowances: (owner_kind, owner_ids) =>
      database.read((knex) =>
        readAllowances(knex, owner_kind, owner_ids, { now_ms: now(), calendar }),
      ),
    ledger: (account_id, page) => ledger(database, account_id, page),
    usage: (account_id, range, split) => usage(database, account_id, range, split),
    spend: (account_id, range) => spend(database, account_id, range),
    verify: () => verify(database),
    openHolds: () => openHolds(database),
    clock: () => readClock(database),
    heartbeat: hot.heartbeat.bind(hot),
    outdated: () => outdatedFault(database),
    processes: () => liveProcesses(database),
    notes: () => liveNotes(database),
    recover: () => recover(database, self, watch, elapsed_ms()),
    releaseForgotten: (known) => releaseForgotten(database, hot, self, known),
    ping: hot.ping.bind(hot),
    close: async () => {
      try {
        await hot.close();
      } finally {
        forgetProcess(self);
        await database.close();
      }
    },
  };
}

function openRates(
  database: Database,
  hot: HotPath,
  self: Process,
  options: StoreOptions,
): RateStore {
  const { now, rates = 'store' } = options;
  const isAlone = rates === 'memory' && database.dialect === 'sqlite';
  return isAlone ? new MemoryRates(now) : new SharedRates(database, hot.rates, self, now);
}

/**
 * The end of a hold or a call may be lost with a primary that replicated asynchronously: its row is
 * back, and its process is alive.
 */
async function releaseForgotten(
  database: Database,
  hot: HotPath,
  self: Process,
  knownRequests: () => ReadonlySet<string>,
): Promise<number> {
  const rows = await ownRows(database, self);
  const known = knownRequests();
  const holds = rows.holds.filter(({ request_id }) => !known.has(request_id));
  for (const { request_id, account_id } of holds) await hot.release(request_id, account_id);
  const keys = rows.keys.filter(({ request_id }) => !known.has(request_id));
  for (const one of keys) await hot.idempotency.forget(one);
  return holds.length + keys.length;
}

type Keyring = Pick<
  Store,
  'createKey' | 'editKey' | 'rotateKey' | 'keys' | 'key' | 'isKey' | 'revokeKey'
>;

function keyring(database: Database, now: () => number): Keyring {
  return {
    createKey: (account_id, name, terms, by) =>
      createKey(database, now(), account_id, name, terms, by),
    editKey: (key_id, change, by) => editKey(database, now(), key_id, change, by),
    rotateKey: (key_id, rotation, by) => rotateKey(database, now(), key_id, rotation, by),
    keys: (account_id) => keys(database, account_id),
    key: (id) => key(database, id),
    isKey: (secret_sha256) => isKey(database, secret_sha256),
    revokeKey: (key_id, account_id, by) => revokeKey(database, now(), key_id, account_id, by),
  };
}

type Management = Pick<Store, 'tokens' | 'audit' | 'refund' | 'refundable' | 'suspend' | 'resume'>;

function management(database: Database, now: () => number): Management {
  return {
    tokens: openTokens(database, now),
    audit: {
      list: (filter) => auditEntries(database, filter),
      reloaded: (changes) => auditReload(database, now(), changes),
    },
    refund: (request, by) => refund(database, now(), request, by),
    refundable: (request) => refundable(database, request),
    suspend: (account_id, by) => suspend(database, now(), account_id, by),
    resume: (account_id, by) => resume(database, now(), account_id, by),
  };
}
