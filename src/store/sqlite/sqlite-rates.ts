import type Sqlite from 'better-sqlite3';
import { takeRate, windowAt } from '../rates/rate-counts.js';
import type {
  HotRates,
  RateCommand,
  RateCounts,
  RateEnding,
  RateResult,
} from '../rates/rate-types.js';
import type { Batch, GroupCommit } from './group-commit.js';
import { prepareRates } from './sqlite-statements.js';

/** The counters of rates on SQLite, written by the hot path's group commit. */
export class SqliteRates implements HotRates {
  readonly #takes: Batch<RateCommand, RateResult>;
  readonly #ends: Batch<RateEnding, void>;

  constructor(
    database: Sqlite.Database,
    private readonly group: GroupCommit,
    process_id: string,
    now: () => number,
  ) {
    const statements = prepareRates(database);
    this.#takes = batchOf((commands) => takeAll(statements, commands, process_id, now()));
    this.#ends = batchOf((endings) => endAll(statements, endings));
  }

  take(command: RateCommand): Promise<RateResult> {
    return this.group.join(this.#takes, command);
  }

  end(ending: RateEnding): Promise<void> {
    return this.group.join(this.#ends, ending);
  }
}

function batchOf<Item, Value>(runBatch: (items: readonly Item[]) => Value[]): Batch<Item, Value> {
  return { runBatch, runOne: (item) => runBatch([item])[0]! };
}

type Statements = ReturnType<typeof prepareRates>;

/** The counters that one transaction uses: each is read and written once. */
class Counters {
  readonly #all = new Map<string, RateCounts | undefined>();
  readonly #changed = new Set<string>();

  constructor(private readonly statements: Statements) {}

  get(name: string): RateCounts | undefined {
    if (!this.#all.has(name)) this.#all.set(name, this.#read(name));
    return this.#all.get(name);
  }

  set(name: string, to: RateCounts): void {
    this.#all.set(name, to);
    this.#changed.add(name);
  }

  write(): void {
    for (const name of this.#changed) {
      const { window_ms, requests, tokens, in_flight } = this.#all.get(name)!;
      this.statements.write.run(name, window_ms, requests, tokens, in_flight);
    }
  }

  #read(name: string): RateCounts | undefined {
    const row = this.statements.read.get(name);
    if (!row) return undefined;
    const [window_ms, requests, tokens, in_flight] = row;
    return { window_ms, requests, tokens, in_flight };
  }
}

function takeAll(
  statements: Statements,
  commands: readonly RateCommand[],
  process_id: string,
  now_ms: number,
): RateResult[] {
  const counters = new Counters(statements);
  const window_ms = windowAt(now_ms);
  const results = commands.map((command) => {
    const result = takeRate(command, window_ms, counters);
    if (!result.admitted) return result;
    for (const { counter, rates } of command.limits) {
      if (rates.concurrent_requests === undefined) continue;
      statements.occupy.run(command.request_id, counter, process_id, now_ms);
    }
    return result;
  });
  counters.write();
  return results;
}

function endAll(statements: Statements, endings: readonly RateEnding[]): void[] {
  const counters = new Counters(statements);
  const add = (name: string, more: { tokens: number; in_flight: number }): void => {
    const counts = counters.get(name);
    if (!counts) return;
    const tokens = Math.max(0, counts.tokens + more.tokens);
    counters.set(name, { ...counts, tokens, in_flight: counts.in_flight + more.in_flight });
  };
  const results = endings.map(({ request_id, limits, tokens, windows_ms }) => {
    if (limits.some(({ rates }) => rates.concurrent_requests !== undefined)) {
      for (const [counter] of statements.free.all(request_id))
        add(counter, { tokens: 0, in_flight: -1 });
    }
    if (tokens === 0) return;
    for (const [at, { counter }] of limits.entries()) {
      if (counters.get(counter)?.window_ms === windows_ms[at])
        add(counter, { tokens, in_flight: 0 });
    }
  });
  counters.write();
  return results;
}
