import type Sqlite from 'better-sqlite3';
import type { GroupCommit } from './group-commit.js';
import type { HotIdempotency } from '../hot-path.js';
import { prepareIdempotency } from './sqlite-statements.js';
import { keyStateOf, lostOwnership } from '../idempotency/idempotency-keys.js';
import type { EndedCall, KeyState, IdempotentCall } from '../idempotency/idempotency-types.js';

/** Idempotency keys on SQLite, written by the hot path's group commit. */
export class SqliteIdempotency implements HotIdempotency {
  readonly #statements: ReturnType<typeof prepareIdempotency>;

  constructor(
    database: Sqlite.Database,
    private readonly group: GroupCommit,
    private readonly process_id: string,
    private readonly now: () => number,
  ) {
    this.#statements = prepareIdempotency(database);
  }

  begin(call: IdempotentCall): Promise<KeyState> {
    return this.group.add(() => this.#begin(call));
  }

  #begin(call: IdempotentCall): KeyState {
    const { account_id, key_sha256, request_sha256, request_id, due_ms } = call;
    const { begin, find } = this.#statements;
    const values = [request_sha256, request_id, this.process_id, due_ms] as const;
    const begun = begin.run(account_id, key_sha256, ...values, this.now());
    const row = begun.changes > 0 ? undefined : find.get(account_id, key_sha256);
    return row ? keyStateOf(row, call) : { is: 'new' };
  }

  async answer(call: EndedCall): Promise<void> {
    await this.group.addDurably(() => this.keep(call, true));
  }

  /** Runs within a transaction of the group commit; `isFree` for a call without a charge. */
  keep(call: EndedCall, isFree = false): void {
    const { account_id, key_sha256, request_sha256, request_id, due_ms, answer } = call;
    const values = [request_sha256, request_id, due_ms] as const;
    const { status = null, text = null } = answer ?? {};
    const free = isFree ? 1 : 0;
    const kept = this.#statements.keep.run(account_id, key_sha256, ...values, status, text, free);
    if (kept.changes === 0) throw lostOwnership(call);
  }

  async forget({
    account_id,
    key_sha256,
    request_id,
  }: Pick<IdempotentCall, 'account_id' | 'key_sha256' | 'request_id'>): Promise<void> {
    await this.group.add(() => this.#statements.forget.run(account_id, key_sha256, request_id));
  }
}
