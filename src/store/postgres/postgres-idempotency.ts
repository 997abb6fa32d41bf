import type { HotIdempotency } from '../hot-path.js';
import { keyStateOf, lostOwnership, type CallRow } from '../idempotency/idempotency-keys.js';
import type { EndedCall, KeyState, IdempotentCall } from '../idempotency/idempotency-types.js';
import type { PostgresSession } from './postgres-session.js';

/** The key may end between the insert and the read, so both are repeated this many times. */
const MAX_ATTEMPTS = 5;

/** Idempotency keys on PostgreSQL. */
export class PostgresIdempotency implements HotIdempotency {
  constructor(private readonly session: PostgresSession) {}

  begin(call: IdempotentCall): Promise<KeyState> {
    return this.session.track(this.#begin(call));
  }

  async #begin(call: IdempotentCall): Promise<KeyState> {
    const { account_id, key_sha256, request_sha256, request_id, due_ms } = call;
    const { session } = this;
    const { process_id } = session;
    const values = [account_id, key_sha256, request_sha256, request_id, process_id, due_ms];
    values.push(session.now());
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const begun = await session.ensureRegistered(() => session.run('begin', values));
      if (begun.rowCount === 1) return { is: 'new' };
      const { rows } = await session.run<CallRow>('find', [account_id, key_sha256]);
      if (rows[0]) return keyStateOf(rows[0], call);
    }
    return { is: 'running' };
  }

  async answer(call: EndedCall): Promise<void> {
    const { rowCount } = await this.session.track(
      this.session.runIdempotent('keep', valuesOf(call)),
    );
    if (rowCount === 0) throw lostOwnership(call);
  }

  async forget({
    account_id,
    key_sha256,
    request_id,
  }: Pick<IdempotentCall, 'account_id' | 'key_sha256' | 'request_id'>): Promise<void> {
    await this.session.track(
      this.session.runIdempotent('forget', [account_id, key_sha256, request_id]),
    );
  }
}

/** The values of `keep`. `chargeKept` takes those after the first two. */
export function valuesOf(call: EndedCall): unknown[] {
  const { account_id, key_sha256, request_sha256, request_id, due_ms, answer } = call;
  const { status = null, text = null } = answer ?? {};
  return [account_id, request_id, key_sha256, request_sha256, due_ms, status, text];
}
