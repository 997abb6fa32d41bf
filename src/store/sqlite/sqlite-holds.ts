import type Sqlite from 'better-sqlite3';
import type { Batch } from './group-commit.js';
import { noAccount } from '../store-error.js';
import { refusalOf, type HoldCommand } from '../hot-path.js';
import type { HoldResult } from '../store-types.js';
import { MAX_NANO } from '../column-values.js';
import { prepareBulk, HOLD, prepareHolds } from './sqlite-statements.js';

const ADMITTED: HoldResult = { admitted: true };

/** Takes holds, within a transaction of the group commit. */
export class SqliteHolds implements Batch<HoldCommand, HoldResult> {
  readonly runsLast = true;
  readonly #statements: ReturnType<typeof prepareHolds>;
  readonly #insert: ReturnType<typeof prepareBulk>;

  constructor(
    database: Sqlite.Database,
    private readonly process_id: string,
    private readonly now: () => number,
  ) {
    this.#statements = prepareHolds(database);
    this.#insert = prepareBulk(database, HOLD);
  }

  /** Admits the holds of one account and key together if their sum fits, else one by one. */
  runBatch(commands: readonly HoldCommand[]): HoldResult[] {
    const refused = new Map<HoldCommand, HoldResult>();
    for (const group of byPayer(commands)) {
      if (this.#admitsAll(group)) continue;
      for (const command of group) {
        const result = this.runOne(command);
        if (!result.admitted) refused.set(command, result);
      }
    }
    return commands.map((command) => refused.get(command) ?? ADMITTED);
  }

  /** False, with nothing changed, if the sum exceeds the account's balance or the key's limit. */
  #admitsAll(commands: readonly HoldCommand[]): boolean {
    const [first, second] = commands;
    if (!first || !second) return false;
    const { account_id, key_id } = first;
    const { terms, admitAll, count } = this.#statements;
    const now_ms = this.now();
    const sum_nano = commands.reduce((sum, { amount_nano }) => sum + amount_nano, 0n);
    if (sum_nano > MAX_NANO) return false;
    const key = key_id === null ? undefined : terms.get(key_id);
    if (key && refusalOf(key, sum_nano, now_ms)) return false;
    if (admitAll.run(sum_nano, account_id, sum_nano).changes === 0) return false;
    const counted = key && key.limit_nano !== null ? key_id : null;
    if (counted !== null) count.run(0n, sum_nano, counted);
    this.#insert(commands.map((command) => this.#row(command, counted, now_ms)));
    return true;
  }

  /** Most keys have no limit of their own: the first statement alone admits their holds. */
  runOne(command: HoldCommand): HoldResult {
    const statements = this.#statements;
    const { account_id, amount_nano, key_id } = command;
    const now_ms = this.now();
    const fits = amount_nano <= MAX_NANO;
    const admits = (key: string | null): boolean =>
      fits && statements.admit.run(amount_nano, account_id, amount_nano, key, now_ms).changes > 0;
    if (admits(key_id)) {
      this.#insert([this.#row(command, null, now_ms)]);
      return ADMITTED;
    }
    const key = key_id === null ? undefined : statements.terms.get(key_id);
    const refusal = key && refusalOf(key, amount_nano, now_ms);
    if (refusal) return refusal;
    if (key && key.limit_nano !== null && admits(null)) {
      statements.count.run(0n, amount_nano, key_id);
      this.#insert([this.#row(command, key_id, now_ms)]);
      return ADMITTED;
    }
    const figures = statements.figures.get(account_id);
    if (!figures) throw noAccount(account_id);
    const { balance_nano, held_nano } = figures;
    return { admitted: false, because: 'balance', balance_nano, held_nano };
  }

  #row(
    { request_id, account_id, amount_nano }: HoldCommand,
    key_id: string | null,
    now_ms: number,
  ) {
    return [request_id, account_id, this.process_id, amount_nano, now_ms, key_id];
  }
}

/** Groups the holds by account and key. */
function byPayer(commands: readonly HoldCommand[]): Iterable<HoldCommand[]> {
  const all = new Map<string, HoldCommand[]>();
  for (const command of commands) {
    const payer = `${command.account_id} ${command.key_id}`;
    const group = all.get(payer);
    if (group) group.push(command);
    else all.set(payer, [command]);
  }
  return all.values();
}
