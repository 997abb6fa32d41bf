import type Sqlite from 'better-sqlite3';
import type { Batch } from './batch.js';
import { tooLowBalance, tooMuchSpent, type ChargeAct } from './hot.js';
import type { AnsweredCall } from './idempotency-types.js';
import { MAX_NANO, MIN_NANO } from './nano.js';
import { prepareBulk } from './sqlite-bulk.js';
import { CHARGE, ENDED_HOLD, prepareCharges, type EndedHold } from './sqlite-sql.js';
import { StoreError, type Charge } from './types.js';

interface Paid {
  spent_nano: bigint;
  freed_nano: bigint;
}

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
    const limited = new Map<string, boolean>();
    const isPlain = ({ charge, answered }: ChargeAct): boolean =>
      charge.hold_nano !== undefined && !answered && !this.#isLimited(charge.key_id, limited);
    const plain = acts.length > 1 ? acts.filter(isPlain) : [];
    this.#settleAll(plain.map(({ charge }) => charge));
    const done = new Set(plain);
    return acts.map((act) => done.has(act) || this.alone(act));
  }

  #isLimited(key_id: string, known: Map<string, boolean>): boolean {
    let limited = known.get(key_id);
    if (limited === undefined) {
      limited = (this.#statements.terms.get(key_id)?.limit_nano ?? null) !== null;
      known.set(key_id, limited);
    }
    return limited;
  }

  /** Each is the first of its request, has its hold, and no key to be counted for. */
  #settleAll(charges: readonly Charge[]): void {
    const entered = this.#enter(charges.map((charge) => this.#row(charge)));
    const ended = this.#end(
      charges.map(({ request_id, account_id, hold_nano }) => [request_id, account_id, hold_nano]),
    );
    if (entered !== charges.length || ended !== charges.length) {
      throw new StoreError('A charge was made before, or its hold is not there.');
    }
    for (const [account_id, paid] of byAccount(charges)) this.#pay(account_id, paid);
  }

  alone({ charge, answered }: ChargeAct): boolean {
    if (answered) this.keep(answered);
    const { request_id, account_id, cost_nano } = charge;
    const isFirst = this.#enter([this.#row(charge)]) > 0;
    const ended = this.#statements.endHold.get(request_id, account_id);
    if (!isFirst && ended === undefined) return false;
    const spent_nano = isFirst ? cost_nano : 0n;
    this.#pay(account_id, { spent_nano, freed_nano: ended?.[0] ?? 0n });
    this.#countCharge(charge.key_id, spent_nano, ended);
    return isFirst;
  }

  #row(charge: Charge): unknown[] {
    const { account_id, request_id, cost_nano, key_id, model, provider, usage } = charge;
    const estimated = charge.estimated ? 1 : 0;
    const values = [account_id, request_id, -cost_nano, key_id, model, provider, usage];
    return [...values, estimated, this.now()];
  }

  /** A hold that names no key says that the key has no limit; without a hold the key says it. */
  #countCharge(key_id: string, spent_nano: bigint, ended: EndedHold | undefined): void {
    if (ended && ended[1] === null) return;
    const key = this.#statements.terms.get(key_id);
    if (!key || key.limit_nano === null) return;
    if (key.spent_nano + spent_nano > MAX_NANO) throw tooMuchSpent(key_id);
    this.#statements.count.run(spent_nano, -(ended?.[0] ?? 0n), key_id);
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

function byAccount(charges: readonly Charge[]): Map<string, Paid> {
  const all = new Map<string, Paid>();
  for (const { account_id, cost_nano, hold_nano = 0n } of charges) {
    const { spent_nano, freed_nano } = all.get(account_id) ?? { spent_nano: 0n, freed_nano: 0n };
    const paid = { spent_nano: spent_nano + cost_nano, freed_nano: freed_nano + hold_nano };
    all.set(account_id, paid);
  }
  return all;
}
