import type Sqlite from 'better-sqlite3';
import type { Batch } from './group-commit.js';
import { noAccount, StoreError } from '../store-error.js';
import {
  refusalOf,
  refusalOfWindows,
  type HoldCommand,
  COLLECTED,
  isBeyondHold,
  ADMITTED,
  type ChargeCommand,
} from '../hot-path.js';
import type { HoldResult, Collected } from '../store-types.js';
import { minNano } from '../../lib/money.js';
import { MAX_NANO } from '../column-values.js';
import { ENDED_HOLD, prepareBulk, prepareChargeInsert, prepareHoldInsert } from './sqlite-bulk.js';
import type { OpenWindow } from '../limits/hold-windows.js';
import type { SqliteAllowances } from './sqlite-allowances.js';
import type { RequestRecord } from '../../core/request-record.js';
import type { SqliteRecords } from './sqlite-records.js';
import { prepareCharges, prepareHolds, type HoldingKey } from './sqlite-statements.js';
import type { EndedCall } from '../idempotency/idempotency-types.js';
import type { Charge } from '../ledger/ledger-columns.js';

/** Takes holds, within a transaction of the group commit. */
export class SqliteHolds implements Batch<HoldCommand, HoldResult> {
  readonly runsLast = true;
  readonly #statements: ReturnType<typeof prepareHolds>;
  readonly #insert: ReturnType<typeof prepareHoldInsert>;

  constructor(
    database: Sqlite.Database,
    private readonly allowances: SqliteAllowances,
    private readonly process_id: string,
    private readonly now: () => number,
  ) {
    this.#statements = prepareHolds(database);
    this.#insert = prepareHoldInsert(database);
  }

  /** Admits the holds of one account and key together if their sum fits, else one by one. */
  runBatch(commands: readonly HoldCommand[]): HoldResult[] {
    const results = new Map<HoldCommand, HoldResult>();
    for (const group of byPayer(commands)) {
      const together = this.#admitAll(group);
      if (together === ADMITTED) continue;
      for (const command of group) results.set(command, together ?? this.runOne(command));
    }
    return commands.map((command) => results.get(command) ?? ADMITTED);
  }

  /** Undefined, with nothing changed, if the account or the key refuses the sum. */
  #admitAll(commands: readonly HoldCommand[]): HoldResult | undefined {
    const [first, second] = commands;
    if (!first || !second) return undefined;
    const sum_nano = commands.reduce((sum, { amount_nano }) => sum + amount_nano, 0n);
    if (sum_nano > MAX_NANO) return undefined;
    const now_ms = this.now();
    const key = this.#keyOf(first);
    if (key && refusalOf(key, sum_nano, now_ms)) return undefined;
    const windows = this.#windowsOf(first, key, now_ms);
    if (refusalOfWindows(windows, sum_nano)) return undefined;
    return this.#take(commands, { sum_nano, key, windows, now_ms });
  }

  /** The first statement alone admits a hold without a limit of its key and allowances. */
  runOne(command: HoldCommand): HoldResult {
    const { admit, figures } = this.#statements;
    const { account_id, amount_nano, key_id } = command;
    const now_ms = this.now();
    const fits = amount_nano <= MAX_NANO;
    if (fits && admit.run(amount_nano, account_id, amount_nano, key_id, now_ms).changes > 0) {
      return this.#insertHolds([command], { counted: null, windows: null, now_ms });
    }
    const key = this.#keyOf(command);
    const refusal = key && refusalOf(key, amount_nano, now_ms);
    if (refusal) return refusal;
    const windows = this.#windowsOf(command, key, now_ms);
    const full = refusalOfWindows(windows, amount_nano);
    if (fits && !full) {
      const taken = this.#take([command], { sum_nano: amount_nano, key, windows, now_ms });
      if (taken) return taken;
    }
    const account = figures.get(account_id);
    if (!account) throw noAccount(account_id);
    const { balance_nano, held_nano, suspended_ms } = account;
    if (suspended_ms !== null) return { admitted: false, because: 'suspended' };
    return full ?? { admitted: false, because: 'balance', balance_nano, held_nano };
  }

  #keyOf({ key_id }: HoldCommand): HoldingKey | undefined {
    return key_id === null ? undefined : this.#statements.terms.get(key_id);
  }

  #windowsOf(
    { account_id, key_id }: HoldCommand,
    key: HoldingKey | undefined,
    now_ms: number,
  ): readonly OpenWindow[] {
    if (key?.is_allowed === 0n) return [];
    return this.allowances.windowsOf(account_id, key_id, now_ms);
  }

  /**
   * Takes holds that the key and the windows allow. Undefined, with nothing changed, if the account
   * refuses their sum.
   */
  #take(
    commands: readonly HoldCommand[],
    { sum_nano, key, windows, now_ms }: Taking,
  ): HoldResult | undefined {
    const { account_id, key_id } = commands[0]!;
    const { admitAll, count } = this.#statements;
    if (admitAll.run(sum_nano, account_id, sum_nano).changes === 0) return undefined;
    const counted = key && key.limit_nano !== null ? key_id : null;
    if (counted !== null) count.run(0n, sum_nano, counted);
    const held = windows.length === 0 ? null : this.allowances.hold(windows, sum_nano);
    return this.#insertHolds(commands, { counted, windows: held, now_ms });
  }

  /** `counted` is the key, null where it has no limit. */
  #insertHolds(
    commands: readonly HoldCommand[],
    {
      counted,
      windows,
      now_ms,
    }: { counted: string | null; windows: string | null; now_ms: number },
  ): HoldResult {
    const { process_id } = this;
    this.#insert(
      commands.map(({ request_id, account_id, amount_nano }) => {
        const key_id = counted;
        return {
          request_id,
          account_id,
          amount_nano,
          key_id,
          process_id,
          created_ms: now_ms,
          windows,
        };
      }),
    );
    return windows === null ? ADMITTED : { admitted: true, windows };
  }
}

/** The holds to be taken of one account and key. */
interface Taking {
  sum_nano: bigint;
  key: HoldingKey | undefined;
  windows: readonly OpenWindow[];
  now_ms: number;
}

/** Groups the holds by account and key. */
function byPayer(commands: readonly HoldCommand[]): Iterable<HoldCommand[]> {
  const all = new Map<string, HoldCommand[]>();
  // Most commands that lie together have one payer.
  let last: HoldCommand[] = [];
  for (const command of commands) {
    const { account_id, key_id } = command;
    const [payer] = last;
    if (payer?.key_id !== key_id || payer.account_id !== account_id) {
      const name = `${account_id} ${key_id}`;
      last = all.get(name) ?? [];
      all.set(name, last);
    }
    last.push(command);
  }
  return all.values();
}

/** A hold to end; the key is null where it has no limit. */
interface EndedHold {
  charge: Charge;
  key_id: string | null;
}

interface Paid {
  spent_nano: bigint;
  freed_nano: bigint;
}

/** Writes charges and ends their holds, within a transaction of the group commit. */
export class SqliteCharges implements Batch<ChargeCommand, Collected | false> {
  readonly #statements: ReturnType<typeof prepareCharges>;
  readonly #enter: ReturnType<typeof prepareChargeInsert>;
  readonly #end: ReturnType<typeof prepareBulk<EndedHold>>;

  constructor(
    database: Sqlite.Database,
    private readonly allowances: SqliteAllowances,
    private readonly keep: (call: EndedCall) => void,
    private readonly records: Pick<SqliteRecords, 'addBeside'>,
    private readonly now: () => number,
  ) {
    this.#statements = prepareCharges(database);
    this.#enter = prepareChargeInsert(database);
    this.#end = prepareBulk<EndedHold>(database, ENDED_HOLD, (values, { charge, key_id }) => {
      values.push(charge.request_id, charge.account_id, charge.hold_nano, key_id);
    });
  }

  /** Throws if the statements over many rows do not fit, so that the group runs each alone. */
  runBatch(commands: readonly ChargeCommand[]): (Collected | false)[] {
    const simple = commands.filter(isSimple);
    if (simple.length < 2) return commands.map((command) => this.runOne(command));
    this.#chargeAll(simple.map(({ charge }) => charge));
    const collected = commands.map((command) =>
      isSimple(command) ? COLLECTED : this.#chargeOne(command),
    );
    this.#record(commands, collected);
    return collected;
  }

  /** Writes the records of the charges that were made, with what was collected. */
  #record(commands: readonly ChargeCommand[], collected: readonly (Collected | false)[]): void {
    const records: RequestRecord[] = [];
    for (let at = 0; at < commands.length; at += 1) {
      const { charge, record } = commands[at]!;
      const outcome = collected[at];
      if (!record || !outcome) continue;
      const { cost_nano, not_owed_nano = 0n } = charge;
      record.uncollected_nano = outcome.uncollected_nano;
      // Most are collected as a whole.
      if (outcome === COLLECTED) record.cost_nano = cost_nano;
      else record.cost_nano = cost_nano + not_owed_nano - outcome.uncollected_nano;
      records.push(record);
    }
    if (records.length > 0) this.records.addBeside(records);
  }

  /**
   * Writes charges that cost at most their hold, so that every window allows them. Throws if one is
   * a second charge, or if its hold differs from `hold_nano` and `hold_windows`.
   */
  #chargeAll(charges: readonly Charge[]): void {
    const limited = new Set<string>();
    for (const [key_id, paid] of sums(charges, 'key_id')) {
      if (this.#countAll(key_id, paid)) limited.add(key_id);
    }
    const created_ms = this.now();
    const entered = this.#enter(
      charges.map((charge) => ({ charge, collected_nano: charge.cost_nano, created_ms })),
    );
    const holds = charges.map((charge) => ({
      charge,
      key_id: limited.has(charge.key_id) ? charge.key_id : null,
    }));
    const ended = this.#endAll(holds);
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

  /** Returns the number of holds that it has ended. */
  #endAll(holds: readonly EndedHold[]): number {
    let ended = 0;
    for (const [windows, group] of byWindows(holds)) {
      ended += this.#end(group, [windows]);
      if (windows !== null) this.allowances.end(windows, paidFor(group));
    }
    return ended;
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

  runOne(command: ChargeCommand): Collected | false {
    const collected = this.#chargeOne(command);
    this.#record([command], [collected]);
    return collected;
  }

  #chargeOne({ charge, answered }: ChargeCommand): Collected | false {
    if (answered) this.keep(answered);
    const { request_id, account_id, key_id, cost_nano, not_owed_nano = 0n, hold_windows } = charge;
    const ended = this.#statements.endHold.get(request_id, account_id);
    const freed_nano = ended?.[0] ?? 0n;
    // A hold without a key ID is older than the key's limit: the key counts its charge alone.
    const key_freed_nano = ended && ended[1] !== null ? freed_nano : 0n;
    const left_nano = this.#left(key_id, key_freed_nano);
    const windows = ended?.[2] ?? hold_windows ?? null;
    const max_nano = [
      this.#available(account_id) + freed_nano,
      left_nano ?? cost_nano,
      this.#roomInWindows(windows, freed_nano) ?? cost_nano,
    ].reduce(minNano);
    const collected_nano = minNano(cost_nano, max_nano > 0n ? max_nano : 0n);
    const uncollected_nano = cost_nano - collected_nano + not_owed_nano;
    const row = { charge, collected_nano, uncollected_nano, created_ms: this.now() };
    const isFirst = this.#enter([row]) > 0;
    if (!isFirst && !ended) return false;
    const spent_nano = isFirst ? collected_nano : 0n;
    this.#pay(account_id, { spent_nano, freed_nano });
    if (left_nano !== undefined) this.#statements.count.run(spent_nano, -key_freed_nano, key_id);
    if (windows !== null) this.allowances.end(windows, { spent_nano, freed_nano });
    return isFirst && { uncollected_nano };
  }

  /** The hold, and what its windows have left beside all holds; undefined without windows. */
  #roomInWindows(windows: string | null, freed_nano: bigint): bigint | undefined {
    if (windows === null) return undefined;
    const left_nano = this.allowances.left(windows, this.now());
    return left_nano === undefined ? undefined : freed_nano + (left_nano > 0n ? left_nano : 0n);
  }

  /** The balance that no hold has set aside. */
  #available(account_id: string): bigint {
    const figures = this.#statements.figures.get(account_id);
    if (!figures) throw noAccount(account_id);
    return figures.balance_nano - figures.held_nano;
  }

  release(request_id: string, account_id: string): void {
    const ended = this.#statements.endHold.get(request_id, account_id);
    if (ended === undefined) return;
    const [freed_nano, key_id, windows] = ended;
    this.#pay(account_id, { spent_nano: 0n, freed_nano });
    if (key_id !== null) this.#statements.count.run(0n, -freed_nano, key_id);
    if (windows !== null) this.allowances.end(windows, { spent_nano: 0n, freed_nano });
  }

  #pay(account_id: string, { spent_nano, freed_nano }: Paid): void {
    const paid = this.#statements.pay.run(spent_nano, freed_nano, account_id);
    if (paid.changes === 0) throw noAccount(account_id);
  }
}

/** Whether a charge can be written together with others, by statements over many rows. */
function isSimple({ charge, answered }: ChargeCommand): boolean {
  return charge.hold_nano !== undefined && !answered && !isBeyondHold(charge);
}

/** Groups holds by their windows. Most that end together have the same, or none. */
function byWindows(holds: readonly EndedHold[]): Iterable<[string | null, readonly EndedHold[]]> {
  const first = holds[0]?.charge.hold_windows;
  if (holds.every(({ charge }) => charge.hold_windows === first)) return [[first ?? null, holds]];
  const all = new Map<string | null, EndedHold[]>();
  for (const hold of holds) {
    const windows = hold.charge.hold_windows ?? null;
    const group = all.get(windows);
    if (group) group.push(hold);
    else all.set(windows, [hold]);
  }
  return all;
}

function paidFor(holds: readonly EndedHold[]): Paid {
  const paid = { spent_nano: 0n, freed_nano: 0n };
  for (const { charge } of holds) {
    paid.spent_nano += charge.cost_nano;
    paid.freed_nano += charge.hold_nano ?? 0n;
  }
  return paid;
}

/** Sums the charges by account, or by key. */
function sums(charges: readonly Charge[], owner: 'account_id' | 'key_id'): Map<string, Paid> {
  const all = new Map<string, Paid>();
  for (const charge of charges) {
    const { [owner]: payer, cost_nano, hold_nano = 0n } = charge;
    const paid = all.get(payer);
    if (paid) {
      paid.spent_nano += cost_nano;
      paid.freed_nano += hold_nano;
    } else all.set(payer, { spent_nano: cost_nano, freed_nano: hold_nano });
  }
  return all;
}
