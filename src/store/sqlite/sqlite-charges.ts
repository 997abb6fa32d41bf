import type Sqlite from 'better-sqlite3';
import type { Batch } from './group-commit.js';
import { COLLECTED, isBeyondHold, type ChargeCommand } from '../hot-path.js';
import { noAccount, StoreError } from '../store-error.js';
import type { EndedCall } from '../idempotency/idempotency-types.js';
import { prepareBulk, CHARGE, ENDED_HOLD, prepareCharges } from './sqlite-statements.js';
import { type Settled } from '../store-types.js';
import { chargeValues, type Charge } from '../ledger/ledger-columns.js';

interface Paid {
  spent_nano: bigint;
  freed_nano: bigint;
}

const NOTHING: Paid = { spent_nano: 0n, freed_nano: 0n };

/** Writes charges and ends their holds, within a transaction of the group commit. */
export class SqliteCharges implements Batch<ChargeCommand, Settled | false> {
  readonly #statements: ReturnType<typeof prepareCharges>;
  readonly #enter: ReturnType<typeof prepareBulk>;
  readonly #end: ReturnType<typeof prepareBulk>;

  constructor(
    database: Sqlite.Database,
    private readonly keep: (call: EndedCall) => void,
    private readonly now: () => number,
  ) {
    this.#statements = prepareCharges(database);
    this.#enter = prepareBulk(database, CHARGE);
    this.#end = prepareBulk(database, ENDED_HOLD);
  }

  /** Throws if the statements over many rows do not fit, so that the group runs each alone. */
  runBatch(commands: readonly ChargeCommand[]): (Settled | false)[] {
    const simple = commands.filter(
      ({ charge, answered }) =>
        charge.hold_nano !== undefined && !answered && !isBeyondHold(charge),
    );
    if (simple.length < 2) return commands.map((command) => this.runOne(command));
    this.#settleAll(simple.map(({ charge }) => charge));
    const done = new Set(simple);
    return commands.map((command) => (done.has(command) ? COLLECTED : this.runOne(command)));
  }

  /**
   * Settles charges that cost at most their hold. Throws if one is a second charge, or if its hold
   * differs from `hold_nano`.
   */
  #settleAll(charges: readonly Charge[]): void {
    const limited = new Set<string>();
    for (const [key_id, paid] of sums(charges, 'key_id')) {
      if (this.#countAll(key_id, paid)) limited.add(key_id);
    }
    const entered = this.#enter(charges.map((charge) => this.#row(charge, charge.cost_nano)));
    const ended = this.#end(
      charges.map(({ request_id, account_id, hold_nano, key_id }) => {
        return [request_id, account_id, hold_nano, limited.has(key_id) ? key_id : null];
      }),
    );
    if (entered !== charges.length || ended !== charges.length) {
      throw new StoreError('A request was charged before, or its hold is missing.');
    }
    for (const [account_id, { spent_nano, freed_nano }] of sums(charges, 'account_id')) {
      const beyond_nano = spent_nano - freed_nano;
      const { payAll } = this.#statements;
      if (payAll.run(spent_nano, freed_nano, account_id, beyond_nano).changes > 0) continue;
      throw new StoreError(`Account ${account_id} cannot pay all charges together.`);
    }
  }

  /** False for a key without a limit: the store counts nothing for it. */
  #countAll(key_id: string, { spent_nano, freed_nano }: Paid): boolean {
    const left_nano = this.#left(key_id, freed_nano);
    if (left_nano === undefined) return false;
    if (left_nano < spent_nano)
      throw new StoreError(`Key ${key_id} cannot pay all charges together.`);
    this.#statements.count.run(spent_nano, -freed_nano, key_id);
    return true;
  }

  /** The rest of the key's limit beside its other holds; undefined if it has no limit. */
  #left(key_id: string, freed_nano: bigint): bigint | undefined {
    const key = this.#statements.terms.get(key_id);
    if (!key || key.limit_nano === null) return undefined;
    return key.limit_nano - key.spent_nano - (key.held_nano - freed_nano);
  }

  runOne({ charge, answered }: ChargeCommand): Settled | false {
    if (answered) this.keep(answered);
    const { request_id, account_id, key_id, cost_nano, not_owed_nano = 0n } = charge;
    const ended = this.#statements.endHold.get(request_id, account_id);
    const freed_nano = ended?.[0] ?? 0n;
    // A hold without a key ID belongs to a key without a limit. Without a hold, read the key.
    const mayCount = !ended || ended[1] !== null;
    const left_nano = mayCount ? this.#left(key_id, freed_nano) : undefined;
    const max_nano = least(this.#available(account_id) + freed_nano, left_nano ?? cost_nano);
    const collected_nano = least(cost_nano, max_nano > 0n ? max_nano : 0n);
    const isFirst = this.#enter([this.#row(charge, collected_nano)]) > 0;
    if (!isFirst && !ended) return false;
    const spent_nano = isFirst ? collected_nano : 0n;
    this.#pay(account_id, { spent_nano, freed_nano });
    if (left_nano !== undefined) this.#statements.count.run(spent_nano, -freed_nano, key_id);
    return isFirst && { uncollected_nano: cost_nano - collected_nano + not_owed_nano };
  }

  /** The balance that no hold has set aside. */
  #available(account_id: string): bigint {
    const figures = this.#statements.figures.get(account_id);
    if (!figures) throw noAccount(account_id);
    return figures.balance_nano - figures.held_nano;
  }

  #row(charge: Charge, collected_nano: bigint): unknown[] {
    const { account_id, request_id, key_id, cost_nano, not_owed_nano = 0n } = charge;
    const uncollected_nano = cost_nano - collected_nano + not_owed_nano;
    const row: unknown[] = [account_id, request_id, -collected_nano, key_id, uncollected_nano];
    row.push(this.now());
    // The driver binds no booleans.
    for (const value of chargeValues(charge)) row.push(typeof value === 'boolean' ? +value : value);
    return row;
  }

  release(request_id: string, account_id: string): void {
    const ended = this.#statements.endHold.get(request_id, account_id);
    if (ended === undefined) return;
    const [freed_nano, key_id] = ended;
    this.#pay(account_id, { spent_nano: 0n, freed_nano });
    if (key_id !== null) this.#statements.count.run(0n, -freed_nano, key_id);
  }

  #pay(account_id: string, { spent_nano, freed_nano }: Paid): void {
    const paid = this.#statements.pay.run(spent_nano, freed_nano, account_id);
    if (paid.changes === 0) throw noAccount(account_id);
  }
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

/** Sums the charges by account, or by key. */
function sums(charges: readonly Charge[], owner: 'account_id' | 'key_id'): Map<string, Paid> {
  const all = new Map<string, Paid>();
  for (const charge of charges) {
    const { spent_nano, freed_nano } = all.get(charge[owner]) ?? NOTHING;
    const { cost_nano, hold_nano = 0n } = charge;
    const paid = { spent_nano: spent_nano + cost_nano, freed_nano: freed_nano + hold_nano };
    all.set(charge[owner], paid);
  }
  return all;
}
