import {
  ADMITTED,
  callerOf,
  chargeFault,
  holdFault,
  isBeyondHold,
  refusedKey,
  TOUCH_EVERY_MS,
  type ChargeCommand,
  type HoldCommand,
  type HotPath,
} from '../hot-path.js';
import type { EndedCall } from '../idempotency/idempotency-types.js';
import type { Charge } from '../ledger/ledger-columns.js';
import type { Process } from '../leases/leases.js';
import type { HoldResult, Collected } from '../store-types.js';
import type { Caller } from '../../core/model.js';
import type { StorePlace } from '../../core/store-place.js';
import type { RequestRecord } from '../../core/request-record.js';
import type { ZoneCalendar } from '../limits/zone-calendar.js';
import { KeyedBatcher } from './keyed-batcher.js';
import { PostgresCharges } from './postgres-charges.js';
import { PostgresHolds } from './postgres-holds.js';
import { PostgresIdempotency } from './postgres-idempotency.js';
import { PostgresRates } from './postgres-rates.js';
import { PostgresRequests } from './postgres-requests.js';
import { PostgresSession } from './postgres-session.js';

interface KeyRow {
  key_id: string;
  account_id: string;
  last_used_ms: string | null;
  expires_ms: string | null;
  models: string | null;
  suspended_ms: string | null;
  is_empty: boolean;
  key_rates: string | null;
  account_rates: string | null;
}

/**
 * The hot path on PostgreSQL: each command is one prepared statement, hence one round trip and one
 * commit. Commands of one account and key that arrive together share one. To follow a write, read
 * in this order: this file; `keyed-batcher.ts`, which batches commands; `postgres-holds.ts`,
 * `postgres-charges.ts`, `postgres-idempotency.ts` and `postgres-rates.ts`; `postgres-session.ts`,
 * which runs the statements of `postgres-statements.ts` and retries them.
 */
export class PostgresHotPath implements HotPath {
  readonly idempotency: PostgresIdempotency;
  readonly requests: PostgresRequests;
  readonly rates: PostgresRates;
  readonly #session: PostgresSession;
  readonly #now: () => number;
  readonly #callers: KeyedBatcher<string, Caller | undefined>;
  readonly #holds: KeyedBatcher<HoldCommand, HoldResult>;
  readonly #charges: PostgresCharges;
  readonly #batchedCharges: KeyedBatcher<ChargeCommand, Collected | false>;

  constructor(place: StorePlace, self: Process, now: () => number, calendar: ZoneCalendar) {
    this.#now = now;
    this.#session = new PostgresSession(place, self, now);
    this.idempotency = new PostgresIdempotency(this.#session);
    this.#callers = new KeyedBatcher({
      runOne: (sha256) => this.#caller(sha256),
      runBatch: async (same) => {
        const caller = await this.#caller(same[0] ?? '');
        return same.map(() => caller);
      },
    });
    this.#holds = new KeyedBatcher(new PostgresHolds(this.#session, calendar));
    this.requests = new PostgresRequests(this.#session);
    this.rates = new PostgresRates(this.#session);
    this.#charges = new PostgresCharges(this.#session, this.requests);
    this.#batchedCharges = new KeyedBatcher(this.#charges);
  }

  /**
   * Callers that arrive during a read share the next one, not this one: a key that was revoked
   * meanwhile must be refused.
   */
  caller(secret_sha256: string): Promise<Caller | undefined> {
    return this.#callers.add(secret_sha256, secret_sha256);
  }

  async #caller(secret_sha256: string): Promise<Caller | undefined> {
    const now_ms = this.#now();
    const row =
      (await this.#keyRow('caller', secret_sha256)) ??
      (await this.#keyRow('callerBefore', secret_sha256, now_ms));
    if (!row) return undefined;
    const { key_id, last_used_ms, expires_ms } = row;
    if (expires_ms !== null && Number(expires_ms) <= now_ms) return undefined;
    if (last_used_ms === null || now_ms - Number(last_used_ms) > TOUCH_EVERY_MS) {
      this.#touch(key_id, now_ms);
    }
    // Reads of one key that arrive together share this object.
    return callerOf(row);
  }

  async #keyRow(
    name: 'caller' | 'callerBefore',
    ...values: unknown[]
  ): Promise<KeyRow | undefined> {
    return (await this.#session.read<KeyRow>(name, values)).rows[0];
  }

  /** No caller waits for this update, and the next use of the key repeats it. */
  #touch(key_id: string, now_ms: number): void {
    const session = this.#session;
    session.track(session.run('touch', [key_id, now_ms])).catch(() => undefined);
  }

  async hold(
    request_id: string,
    account_id: string,
    amount_nano: bigint,
    key_id: string | null = null,
  ): Promise<HoldResult> {
    const fault = holdFault(amount_nano);
    if (fault) throw fault;
    const command = { request_id, account_id, amount_nano, key_id };
    return this.#session.track(this.#holds.add(`${account_id} ${key_id}`, command));
  }

  async admit(key_id: string): Promise<HoldResult> {
    const values = [key_id, this.#now()];
    const { rows } = await this.#session.read<{ ended: boolean }>('refused', values);
    return rows[0] ? refusedKey(rows[0].ended) : ADMITTED;
  }

  async charge(
    charge: Charge,
    answered?: EndedCall,
    record?: RequestRecord,
  ): Promise<Collected | false> {
    const fault = chargeFault(charge);
    if (fault) throw fault;
    const command = { charge, answered, record };
    const session = this.#session;
    if (answered || isBeyondHold(charge)) return session.track(this.#charges.runOne(command));
    const payer = `${charge.account_id} ${charge.key_id}`;
    return session.track(this.#batchedCharges.add(payer, command));
  }

  async release(request_id: string, account_id: string): Promise<void> {
    const session = this.#session;
    await session.track(session.runIdempotent('release', [account_id, request_id]));
  }

  heartbeat(note?: string, box?: string): Promise<void> {
    return this.#session.heartbeat(note, box);
  }

  async ping(): Promise<void> {
    await this.#session.run('ping', []);
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}
