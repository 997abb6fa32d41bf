import { countsIn, countsOfRow, rateRefusal, windowAt, withRequest } from '../rates/rate-counts.js';
import type {
  HotRates,
  RateCommand,
  RateCounts,
  RateEnding,
  RateLimit,
  RateResult,
} from '../rates/rate-types.js';
import { KeyedBatcher } from './keyed-batcher.js';
import type { PostgresSession } from './postgres-session.js';

/** A counter may be deleted between its insert and the statement that counts. */
const MAX_ATTEMPTS = 5;

/** The row of a counter, with whether the statement has counted the requests. */
type Row = { counter: string; admits: boolean } & Record<keyof RateCounts, string>;

/** The counters of rates on PostgreSQL: one statement for requests of the same counters. */
export class PostgresRates implements HotRates {
  readonly #takes: KeyedBatcher<RateCommand, RateResult>;
  readonly #ends: KeyedBatcher<RateEnding, void>;

  constructor(private readonly session: PostgresSession) {
    this.#takes = new KeyedBatcher({
      runOne: (command) => this.#takeOne(command),
      runBatch: (commands) => this.#takeAll(commands),
    });
    this.#ends = new KeyedBatcher({
      runOne: (ending) => this.#endAll([ending]),
      runBatch: async (endings) => {
        await this.#endAll(endings);
        return endings.map(() => undefined);
      },
    });
  }

  take(command: RateCommand): Promise<RateResult> {
    const counters = command.limits.map(({ counter }) => counter).join('\n');
    return this.session.track(this.#takes.add(counters, command));
  }

  end(ending: RateEnding): Promise<void> {
    return this.session.track(this.#ends.add('', ending));
  }

  async #takeOne(command: RateCommand): Promise<RateResult> {
    const { admits, before } = await this.#take([command], command.limits);
    if (!admits) return rateRefusal(command, before) ?? this.#takeOne(command);
    const counts = before.map((one, at) =>
      withRequest(one, command.limits[at]!.rates, command.tokens),
    );
    return { admitted: true, counts };
  }

  /** Admits the requests together, or refuses those that are refused alone and tries the others. */
  async #takeAll(commands: readonly RateCommand[]): Promise<RateResult[] | undefined> {
    const [{ limits } = { limits: [] }] = commands;
    if (!commands.every((one) => hasSameRates(one.limits, limits))) return undefined;
    const { admits, before } = await this.#take(commands, limits);
    let counts = before;
    if (admits) {
      return commands.map(({ tokens }) => {
        counts = counts.map((one, at) => withRequest(one, limits[at]!.rates, tokens));
        return { admitted: true, counts };
      });
    }
    return Promise.all(
      commands.map(async (command) => rateRefusal(command, before) ?? this.#takeOne(command)),
    );
  }

  /** Counts all of the requests or none, and resolves with the counts before. */
  async #take(
    commands: readonly RateCommand[],
    limits: readonly RateLimit[],
  ): Promise<{ admits: boolean; before: RateCounts[] }> {
    const { session } = this;
    const now_ms = session.now();
    const window_ms = windowAt(now_ms);
    const counters = limits.map(({ counter }) => counter);
    const values = [
      counters,
      limits.map(({ rates }) => rates.requests_per_minute ?? null),
      limits.map(({ rates }) => rates.tokens_per_minute ?? null),
      limits.map(({ rates }) => rates.concurrent_requests ?? null),
      commands.map(({ request_id }) => request_id),
      commands.reduce((sum, { tokens }) => sum + tokens, 0),
      window_ms,
      session.process_id,
      now_ms,
    ];
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const { rows } = await session.ensureRegistered(() => session.run<Row>('countRate', values));
      if (rows.length === counters.length) {
        const known = new Map(rows.map((row) => [row.counter, countsOfRow(row)]));
        const before = counters.map((name) => countsIn(known.get(name), window_ms));
        return { admits: rows[0]?.admits ?? true, before };
      }
      await session.run('addRates', [counters, window_ms]);
    }
    throw new Error('The counters of rates cannot be written.');
  }

  async #endAll(endings: readonly RateEnding[]): Promise<void> {
    const corrections = endings.flatMap(({ limits, tokens, windows_ms }) =>
      tokens === 0
        ? []
        : limits.map(({ counter }, at) => ({ counter, tokens, at: windows_ms[at] })),
    );
    await this.session.run('endRates', [
      endings.map(({ request_id }) => request_id),
      [...new Set(endings.flatMap(({ limits }) => limits.map(({ counter }) => counter)))],
      corrections.map(({ counter }) => counter),
      corrections.map(({ at }) => at),
      corrections.map(({ tokens }) => tokens),
    ]);
  }
}

function hasSameRates(some: readonly RateLimit[], others: readonly RateLimit[]): boolean {
  return some.every(({ rates }, at) => {
    const other = others[at]!.rates;
    return (
      rates === other ||
      (rates.requests_per_minute === other.requests_per_minute &&
        rates.tokens_per_minute === other.tokens_per_minute &&
        rates.concurrent_requests === other.concurrent_requests)
    );
  });
}
