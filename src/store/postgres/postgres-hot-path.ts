import pg from 'pg';
import { InFlightSet, type Indexed } from '../../lib/in-flight.js';
import { isConflict, isPassing } from '../database.js';
import {
  checkCharge,
  checkHold,
  isBeyondHold,
  modelsIn,
  TOUCH_EVERY_MS,
  type ChargeCommand,
  type HoldCommand,
  type HotPath,
} from '../hot-path.js';
import type { EndedCall } from '../idempotency/idempotency-types.js';
import { KeyedBatcher } from './keyed-batcher.js';
import { codeOf, withRetry } from '../retry.js';
import { PostgresCharges } from './postgres-charges.js';
import { PostgresHolds } from './postgres-holds.js';
import { PostgresIdempotency } from './postgres-idempotency.js';
import type { PostgresSession } from './postgres-session.js';
import { SQL } from './postgres-statements.js';
import type { Process } from '../leases/leases.js';
import type { HoldResult, Settled } from '../store-types.js';
import type { Caller } from '../../core/model.js';
import type { Charge } from '../ledger/ledger-columns.js';

const CONNECTIONS = 10;
const QUERY_MS = 10_000;
const FOREIGN_KEY_VIOLATION = '23503';

interface Act extends Indexed {
  ended: Promise<unknown>;
}

interface KeyRow {
  key_id: string;
  account_id: string;
  last_used_ms: string | null;
  expires_ms: string | null;
  models: string | null;
}

/**
 * The hot path on PostgreSQL: one prepared statement, hence one trip and one commit, for an act, or
 * for those of one account and key that come together.
 */
export class PostgresHot implements HotPath {
  readonly idempotency: PostgresIdempotency;
  readonly #pool: pg.Pool;
  readonly #self: Process;
  readonly #now: () => number;
  readonly #callers: KeyedBatcher<string, Caller | undefined>;
  readonly #holds: KeyedBatcher<HoldCommand, HoldResult>;
  readonly #charges: PostgresCharges;
  readonly #chargeLanes: KeyedBatcher<ChargeCommand, Settled | false>;
  readonly #underWay = new InFlightSet<Act>();

  constructor(url: string, self: Process, now: () => number) {
    this.#pool = new pg.Pool({
      connectionString: url,
      max: CONNECTIONS,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      // A server that hangs without closing must not keep the connection, and the caller, for ever.
      query_timeout: QUERY_MS,
    });
    // An idle connection that breaks is replaced at the next query; unheard it would end us.
    this.#pool.on('error', () => undefined);
    this.#self = self;
    this.#now = now;
    const lent: PostgresSession = {
      run: (name, values) => this.#run(name, values),
      runIdempotent: (name, values) => this.#insist(name, values),
      ensureRegistered: (work) => this.#registered(work),
      track: (act) => this.#track(act),
      process_id: self.id,
      now,
    };
    this.idempotency = new PostgresIdempotency(lent);
    this.#callers = new KeyedBatcher({
      runOne: (sha256) => this.#caller(sha256),
      runBatch: async (same) => {
        const caller = await this.#caller(same[0] ?? '');
        return same.map(() => caller);
      },
    });
    this.#holds = new KeyedBatcher(new PostgresHolds(lent));
    this.#charges = new PostgresCharges(lent);
    this.#chargeLanes = new KeyedBatcher(this.#charges);
  }

  /** Asked anew for all who come while it is asked, so that a key revoked meanwhile is refused. */
  caller(secret_sha256: string): Promise<Caller | undefined> {
    return this.#callers.add(secret_sha256, secret_sha256);
  }

  async #caller(secret_sha256: string): Promise<Caller | undefined> {
    const { rows } = await this.#run<KeyRow>('caller', [secret_sha256]);
    const row = rows[0];
    if (!row) return undefined;
    const { key_id, account_id, last_used_ms, expires_ms } = row;
    const now_ms = this.#now();
    if (expires_ms !== null && Number(expires_ms) <= now_ms) return undefined;
    if (last_used_ms === null || now_ms - Number(last_used_ms) > TOUCH_EVERY_MS) {
      this.#touch(key_id, now_ms);
    }
    // All who ask at once with one key are given the same.
    return Object.freeze({ key_id, account_id, models: modelsIn(row.models) });
  }

  /** Nobody waits for this note, and the next use of the key makes it again. */
  #touch(key_id: string, now_ms: number): void {
    this.#track(this.#run('touch', [key_id, now_ms])).catch(() => undefined);
  }

  async hold(
    request_id: string,
    account_id: string,
    amount_nano: bigint,
    key_id: string | null = null,
  ): Promise<HoldResult> {
    checkHold(amount_nano);
    const act = { request_id, account_id, amount_nano, key_id };
    return this.#track(this.#holds.add(`${account_id} ${key_id}`, act));
  }

  /** A process registers at its first hold, and again if it was taken to be gone meanwhile. */
  async #registered<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (codeOf(error) !== FOREIGN_KEY_VIOLATION) throw error;
      await this.beat();
      return work();
    }
  }

  async hasEnded(key_id: string): Promise<boolean> {
    return (await this.#run('ended', [key_id, this.#now()])).rowCount === 1;
  }

  async settle(charge: Charge, answered?: EndedCall): Promise<Settled | false> {
    checkCharge(charge);
    const act = { charge, answered };
    if (answered || isBeyondHold(charge)) return this.#track(this.#charges.runOne(act));
    return this.#track(this.#chargeLanes.add(`${charge.account_id} ${charge.key_id}`, act));
  }

  async release(request_id: string, account_id: string): Promise<void> {
    await this.#track(this.#insist('release', [account_id, request_id]));
  }

  async beat(note?: string): Promise<void> {
    const { id, place, pid, started_ms } = this.#self;
    await this.#insist('beat', [id, place, pid, started_ms, note ?? null]);
  }

  async ping(): Promise<void> {
    await this.#run('ping', []);
  }

  async close(): Promise<void> {
    await Promise.allSettled(Array.from(this.#underWay, ({ ended }) => ended));
    try {
      await this.#insist('leave', [this.#self.id]);
    } finally {
      await this.#pool.end();
    }
  }

  /** Closing waits for it, as an act may take more than one query. */
  async #track<T>(ended: Promise<T>): Promise<T> {
    const act = { ended, index: -1 };
    this.#underWay.add(act);
    try {
      return await ended;
    } finally {
      this.#underWay.delete(act);
    }
  }

  #run<Row extends pg.QueryResultRow>(name: keyof typeof SQL, values: unknown[]) {
    return withRetry(isConflict, () => this.#query<Row>(name, values));
  }

  #insist<Row extends pg.QueryResultRow>(name: keyof typeof SQL, values: unknown[]) {
    return withRetry(isPassing, () => this.#query<Row>(name, values));
  }

  #query<Row extends pg.QueryResultRow>(name: keyof typeof SQL, values: unknown[]) {
    return this.#pool.query<Row>({ name, text: SQL[name], values });
  }
}
