import type Sqlite from 'better-sqlite3';
import type { Batch } from './batch.js';
import { tooLowBalance, tooMuchSpent, type ChargeAct } from './hot.js';
import type { AnsweredCall } from './idempotency-types.js';
import { MAX_NANO, MIN_NANO } from './nano.js';
import { prepareBulk } from './sqlite-bulk.js';
import { CHARGE, ENDED_HOLD, prepareCharges } from './sqlite-sql.js';
import { StoreError, type Charge } from './types.js';

interface Paid {
  spent_nano: bigint;
  freed_nano: bigint;
}

const NOTHING: Paid = { spent_nano: 0n, freed_nano: 0n };

/** Enters charges and ends their holds, within a transaction. */
export class SqliteCharges implements Batch<ChargeAct, boolean> {
  readonly #statements: ReturnType<typeof prepareCharges>;
  readonly #enter: ReturnType<typeof prepareBulk>;
  readonly #end: ReturnType<typeof prepareBulk>;

  constructor(
    database: Sqlite.Database,
    private readonly keep: (call: AnsweredCall) => void,
    private readonly now: () => number,
  ) {
    this.#statements = prepareCharges(database);
    this.#enter = prepareBulk(database, CHARGE);
    this.#end = prepareBulk(database, ENDED_HOLD);
  }

  /** Throws where one of them is not what it seems, so that each is looked at alone. */
  together(acts: readonly ChargeAct[]): boolean[] {
    const known = acts.filter(
      ({ charge, answered }) => charge.hold_nano !== undefined && !answered,
    );
    if (known.length < 2) return acts.map((act) => this.alone(act));
    this.#settleAll(known.map(({ charge }) => charge));
    const done = new Set(known);
    return acts.map((act) => done.has(act) || this.alone(act));
  }

  /** Each is the first of its request, and its hold is what it is said to be. */
  #settleAll(charges: readonly Charge[]): void {
    const limited = new Set<string>();
    for (const [key_id, paid] of sums(charges, 'key_id')) {
      if (this.#count(key_id, paid)) limited.add(key_id);
    }
    const entered = this.#enter(charges.map((charge) => this.#row(charge)));
    const ended = this.#end(
      charges.map(({ request_id, account_id, hold_nano, key_id }) => {
        return [request_id, account_id, hold_nano, limited.has(key_id) ? key_id : null];
      }),
    );
    if (entered !== charges.length || ended !== charges.length) {
      throw new StoreError('A charge was made before, or its hold is not there.');
    }
    for (const [account_id, paid] of sums(charges, 'account_id')) this.#pay(account_id, paid);
  }

  /** False for a key without a limit, of which nothing is counted. */
  #count(key_id: string, { spent_nano, freed_nano }: Paid): boolean {
    const key = this.#statements.terms.get(key_id);
    if (!key || key.limit_nano === null) return false;
    if (key.spent_nano + spent_nano > MAX_NANO) throw tooMuchSpent(key_id);
    this.#statements.count.run(spent_nano, -freed_nano, key_id);
    return true;
  }

  alone({ charge, answered }: ChargeAct): boolean {
    if (answered) this.keep(answered);
    const { request_id, account_id, cost_nano } = charge;
    const isFirst = this.#enter([this.#row(charge)]) > 0;
    const ended = this.#statements.endHold.get(request_id, account_id);
    if (!isFirst && ended === undefined) return false;
    const paid = { spent_nano: isFirst ? cost_nano : 0n, freed_nano: ended?.[0] ?? 0n };
    this.#pay(account_id, paid);
    // A hold that names no key says that the key has no limit; without a hold the key says it.
    if (!ended || ended[1] !== null) this.#count(charge.key_id, paid);
    return isFirst;
  }

  #row(charge: Charge): unknown[] {
    const { account_id, request_id, cost_nano, key_id, model, provider, usage } = charge;
    const estimated = charge.estimated ? 1 : 0;
    const values = [account_id, request_id, -cost_nano, key_id, model, provider, usage];
    return [...values, estimated, this.now()];
  }

  release(request_id: string, account_id: string): void {
    const ended = this.#statements.endHold.get(request_id, account_id);
    if (ended === undefined) return;
    const [freed_nano, key_id] = ended;
    this.#pay(account_id, { spent_nano: 0n, freed_nano });
    if (key_id !== null) this.#statements.count.run(0n, -freed_nano, key_id);
  }

  /** No row changes if the balance would pass the column, where SQLite would turn to floats. */
  #pay(account_id: string, { spent_nano, freed_nano }: Paid): void {
    const least_nano = MIN_NANO + spent_nano;
    const paid = this.#statements.pay.run(spent_nano, freed_nano, account_id, least_nano);
    if (paid.changes === 0) throw tooLowBalance(account_id);
  }
}

/** What the charges of each account, or of each key, come to. */
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
