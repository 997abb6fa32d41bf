import type { HotIdempotency } from '../hot-path.js';
import { keyStateOf, lostOwnership, type CallRow } from '../idempotency/idempotency-keys.js';
import type { EndedCall, KeyState, IdempotentCall } from '../idempotency/idempotency-types.js';
import type { PostgresSession } from './postgres-session.js';

/** Between being refused and being looked up a key may end, over and over, but not for ever. */
const LOOKS = 5;

/** The idempotency keys on PostgreSQL. */
export class PostgresIdempotency implements HotIdempotency {
  constructor(private readonly lent: PostgresSession) {}

  begin(call: IdempotentCall): Promise<KeyState> {
    return this.lent.track(this.#begin(call));
  }

  async #begin(call: IdempotentCall): Promise<KeyState> {
    const { account_id, key_sha256, asked_sha256, request_id, due_ms } = call;
    const { lent } = this;
    const { process_id } = lent;
    const values = [account_id, key_sha256, asked_sha256, request_id, process_id, due_ms];
    values.push(lent.now());
    for (let look = 0; look < LOOKS; look += 1) {
      const begun = await lent.ensureRegistered(() => lent.run('begin', values));
      if (begun.rowCount === 1) return { is: 'new' };
      const { rows } = await lent.run<CallRow>('find', [account_id, key_sha256]);
      if (rows[0]) return keyStateOf(rows[0], call);
    }
    return { is: 'running' };
  }

  async answer(call: EndedCall): Promise<void> {
    const { rowCount } = await this.lent.track(this.lent.runIdempotent('keep', valuesOf(call)));
    if (rowCount === 0) throw lostOwnership(call);
  }

  async forget({ account_id, key_sha256, request_id }: IdempotentCall): Promise<void> {
    await this.lent.track(this.lent.runIdempotent('forget', [account_id, key_sha256, request_id]));
  }
}

/** The values of the statement that keeps an answer; another that charges too ends with them. */
export function valuesOf(call: EndedCall): unknown[] {
  const { account_id, key_sha256, asked_sha256, request_id, due_ms, answer } = call;
  const { status = null, text = null } = answer ?? {};
  return [account_id, request_id, key_sha256, asked_sha256, due_ms, status, text];
}
