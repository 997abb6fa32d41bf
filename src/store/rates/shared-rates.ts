import type { Knex } from 'knex';
import type { Database } from '../database.js';
import { LEASE_MS, type Process } from '../leases/leases.js';
import { ADDRESS_COUNTERS, countsIn, countsOfRow, windowAt } from './rate-counts.js';
import type {
  HotRates,
  RateCommand,
  RateCounts,
  RateEnding,
  RateResult,
  RateStore,
} from './rate-types.js';

type CounterRow = { counter: string } & Record<keyof RateCounts, bigint>;

/** How long a counter that nobody uses is kept. */
const IDLE_MS = 3_600_000;

/** The counters in the store, which several processes share. */
export class SharedRates implements RateStore {
  readonly is_shared = true;
  /** The counters whose minute has no request left, by what the store has last said. */
  readonly #full = new Map<string, RateCounts>();
  /** The requests whose end is not written. */
  readonly #open = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly hot: HotRates,
    private readonly self: Process,
    private readonly now: () => number,
  ) {}

  async take(command: RateCommand): Promise<RateResult> {
    const known = this.#knownRefusal(command);
    if (known) return known;
    this.#open.add(command.request_id);
    try {
      const result = await this.hot.take(command);
      if (!result.admitted) this.#open.delete(command.request_id);
      if (!result.admitted && result.unit === 'requests') {
        this.#full.set(command.limits[result.at]!.counter, result.counts[result.at]!);
      }
      return result;
    } catch (error) {
      // The store may have counted it: then `sweep` ends it.
      this.#open.delete(command.request_id);
      throw error;
    }
  }

  async end(ending: RateEnding): Promise<void> {
    const isAtOnce = ending.limits.some(({ rates }) => rates.concurrent_requests !== undefined);
    try {
      if (isAtOnce || ending.tokens !== 0) await this.hot.end(ending);
    } finally {
      this.#open.delete(ending.request_id);
    }
  }

  async counts(counters: readonly string[]): Promise<RateCounts[]> {
    const rows = await this.database.read<CounterRow[]>((knex) =>
      knex('rates').whereIn('counter', counters).select(),
    );
    const known = new Map(rows.map((row) => [row.counter, countsOfRow(row)]));
    const window_ms = windowAt(this.now());
    return counters.map((counter) => countsIn(known.get(counter), window_ms));
  }

  /** Requests of a minute only grow, so a counter without any left needs no further statement. */
  #knownRefusal({ limits }: RateCommand): RateResult | undefined {
    const window_ms = windowAt(this.now());
    for (const [at, { counter, rates }] of limits.entries()) {
      const full = this.#full.get(counter);
      if (!full) continue;
      const isPresent = countsIn(full, window_ms) === full;
      if (!isPresent) this.#full.delete(counter);
      else if (full.requests >= (rates.requests_per_minute ?? Infinity)) {
        const counts = limits.map((_, other) => (other === at ? full : undefined));
        return { admitted: false, at, unit: 'requests', counts };
      }
    }
    return undefined;
  }

  async sweep(): Promise<void> {
    const window_ms = windowAt(this.now());
    for (const [counter, counts] of this.#full) {
      if (counts.window_ms < window_ms) this.#full.delete(counter);
    }
    await this.#endForgotten();
    await this.#recount();
    await this.database.read((knex) =>
      knex('rates')
        .where('window_ms', '<', window_ms - IDLE_MS)
        .where('in_flight', 0)
        .delete(),
    );
    // There may be as many as somebody has addresses.
    await this.database.read((knex) =>
      knex('rates')
        .where('window_ms', '<', window_ms)
        .where('counter', 'like', `${ADDRESS_COUNTERS}%`)
        .delete(),
    );
  }

  /** Deletes what this process has not ended, as after a lost connection to the database. */
  async #endForgotten(): Promise<void> {
    const { database, self } = this;
    const rows = await database.read<{ request_id: string }[]>((knex) =>
      knex('rate_slots')
        .where({ process_id: self.id })
        .whereRaw(`created_ms < ${database.clock_ms} - ${LEASE_MS}`)
        .distinct('request_id'),
    );
    const forgotten = rows.map(({ request_id }) => request_id).filter((id) => !this.#open.has(id));
    if (forgotten.length === 0) return;
    await database.write((trx) => trx('rate_slots').whereIn('request_id', forgotten).delete());
  }

  /** Counts the requests at once anew where some were deleted, as those of a process that died. */
  async #recount(): Promise<void> {
    const slots = (knex: Knex) =>
      knex('rate_slots').where('rate_slots.counter', knex.ref('rates.counter')).count('*');
    const wrong = await this.database.read<{ counter: string }[]>((knex) =>
      knex('rates').whereNot('in_flight', slots(knex)).orderBy('counter').select('counter'),
    );
    for (const { counter } of wrong) {
      await this.database.write(async (trx) => {
        // Nobody changes the slots of a counter while its row is locked.
        await trx('rates').where({ counter }).forUpdate().first('counter');
        await trx('rates')
          .where({ counter })
          .update({ in_flight: slots(trx) });
      });
    }
  }
}
