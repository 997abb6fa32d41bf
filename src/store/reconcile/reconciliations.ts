import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Knex } from 'knex';
import { FLAGS, firstIdAt } from '../../core/request-record.js';
import { TOKEN_CLASSES, type TokenClass } from '../../core/usage.js';
import { NANO_PER_DOLLAR } from '../../lib/money.js';
import type { Database } from '../database.js';
import { DAY_MS, sumIn, unitIn } from '../ledger/usage-days.js';

/** The charges of a day for calls of one upstream. */
export interface UpstreamDay extends UpstreamName, Record<TokenClass, number> {
  calls: number;
  prompt_tokens: number;
  completion_tokens: number;
  /** What the upstream takes: also what an account could not pay, and without its margin. */
  cost_nano: bigint;
  /** The gateway counted the tokens. */
  estimated: boolean;
}

interface UpstreamName {
  /** `YYYY-MM-DD`, of UTC. */
  day: string;
  provider: string;
  /** The model as clients name it. */
  model: string;
  /** The model as the upstream names it; null for charges of older versions. */
  upstream_model: string | null;
}

/** The calls of a day that an upstream may have billed although they did not end well. */
export interface AbortedDay extends UpstreamName {
  calls: number;
}

/** The days of UTC from `from_ms` until before `to_ms`, and the entries under `providers`. */
export interface BilledRange {
  from_ms: number;
  to_ms: number;
  providers: readonly string[];
}

export interface ReconciliationStore {
  /** The charges of all accounts by day and upstream. Refunds change nothing upstream. */
  charged(range: BilledRange): Promise<UpstreamDay[]>;
  /** By day and upstream, as far as the records of requests reach back. */
  aborted(range: BilledRange): Promise<AbortedDay[]>;
  /** Replaces the last report of the same providers. Only the newest few are kept. */
  keep(providers: readonly string[], report: string): Promise<void>;
  /** The kept reports, the newest first. */
  kept(): Promise<{ made_ms: number; report: string }[]>;
}

/** The most reports that are kept. */
const KEPT = 20;

const UNITS = ['prompt_tokens', 'completion_tokens'] as const;

type ChargeSum = Omit<UpstreamDay, 'day' | 'calls' | 'cost_nano' | 'estimated'> & {
  day: bigint;
  calls: bigint;
  dollars: bigint;
  rest: bigint;
  estimated: unknown;
};

export function openReconciliations(database: Database, now: () => number): ReconciliationStore {
  return {
    charged: (range) => charged(database, range),
    aborted: (range) => aborted(database, range),
    keep: (providers, report) => keep(database, now(), providers, report),
    kept: () => kept(database),
  };
}

/**
 * Reads the whole ledger, a slice of its IDs at a time: an index by time would cost each charge a
 * page, for a report of once a month. The clocks of boxes differ, so IDs are not in order of time.
 */
async function charged(database: Database, range: BilledRange): Promise<UpstreamDay[]> {
  const days = new Map<string, UpstreamDay>();
  const ends = await database.read<Ends>((knex) =>
    knex.first({ first: knex('ledger').min('id'), last: knex('ledger').max('id') }),
  );
  for (let id = ends.first ?? 1n; id <= (ends.last ?? 0n); id += SLICE) {
    const sums = await database.read((knex) => sumCharges(knex, database.dialect, range, id));
    for (const sum of sums) addSum(days, sum);
    await nextTurn();
  }
  return [...days.values()];
}

interface Ends {
  first: bigint | null;
  last: bigint | null;
}

/** The most entries of one statement, because in SQLite it blocks the event loop. */
const SLICE = 2_000n;

/** Sums dollars and the rest separately, as the sum of a column could exceed 64 bits. */
async function sumCharges(
  knex: Knex,
  dialect: Database['dialect'],
  { from_ms, to_ms, providers }: BilledRange,
  id: bigint,
): Promise<ChargeSum[]> {
  // Charges of older versions have no cost of their own.
  const cost = 'coalesce(cost_nano, uncollected_nano - amount_nano)';
  return knex('ledger')
    .where('id', '>=', String(id))
    .where('id', '<', String(id + SLICE))
    .where('created_ms', '>=', from_ms)
    .where('created_ms', '<', to_ms)
    .where({ kind: 'charge' })
    .whereIn('provider', providers)
    .groupByRaw('1, 2, 3, 4, 5')
    .select(
      knex.raw(`created_ms / ${DAY_MS} as day`),
      'provider',
      'model',
      'upstream_model',
      'estimated',
      knex.raw('count(*) as calls'),
      knex.raw(`cast(sum((${cost}) / ${NANO_PER_DOLLAR}) as bigint) as dollars`),
      knex.raw(`cast(sum((${cost}) % ${NANO_PER_DOLLAR}) as bigint) as rest`),
      ...UNITS.map((name) => knex.raw(unitIn[dialect](name))),
      ...TOKEN_CLASSES.map((name) => knex.raw(sumIn[dialect](name))),
    );
}

function addSum(days: Map<string, UpstreamDay>, sum: ChargeSum): void {
  const { provider, model, upstream_model } = sum;
  const of = { day: dayName(sum.day), provider, model, upstream_model };
  const estimated = Boolean(sum.estimated);
  const key = JSON.stringify([...Object.values(of), estimated]);
  const day = days.get(key) ?? { ...of, estimated, ...NOTHING };
  day.calls += Number(sum.calls);
  day.cost_nano += sum.dollars * NANO_PER_DOLLAR + sum.rest;
  for (const name of [...UNITS, ...TOKEN_CLASSES]) day[name] += sum[name] ?? 0;
  days.set(key, day);
}

const NO_TOKENS = Object.fromEntries(
  [...UNITS, ...TOKEN_CLASSES].map((name) => [name, 0]),
) as Record<(typeof UNITS)[number] | TokenClass, number>;
const NOTHING = { calls: 0, cost_nano: 0n, ...NO_TOKENS };

function dayName(day: bigint | number): string {
  return new Date(Number(day) * DAY_MS).toISOString().slice(0, 10);
}

type AbortedSum = Omit<AbortedDay, 'day' | 'calls'> & { calls: bigint };

/** Reads day by day, so that no statement takes long. */
async function aborted(
  database: Database,
  { from_ms, to_ms, providers }: BilledRange,
): Promise<AbortedDay[]> {
  const days: AbortedDay[] = [];
  for (let start_ms = from_ms; start_ms < to_ms; start_ms += DAY_MS) {
    const sums = await database.read<AbortedSum[]>((knex) =>
      knex('requests')
        .where('id', '>=', firstIdAt(start_ms))
        .where('id', '<', firstIdAt(Math.min(start_ms + DAY_MS, to_ms)))
        .whereIn('provider', providers)
        .whereNotNull('model')
        .where((either) =>
          either.whereNotNull('code').orWhereRaw(`flags & ${FLAGS.client_left | FLAGS.cut} <> 0`),
        )
        .groupBy('provider', 'model', 'upstream_model')
        .select('provider', 'model', 'upstream_model', knex.raw('count(*) as calls')),
    );
    const day = dayName(Math.floor(start_ms / DAY_MS));
    for (const { calls, ...of } of sums) days.push({ ...of, day, calls: Number(calls) });
  }
  return days;
}

async function keep(
  database: Database,
  made_ms: number,
  names: readonly string[],
  report: string,
): Promise<void> {
  const providers = names.join(' ');
  await database.write(async (trx) => {
    await trx('reconciliations')
      .insert({ providers, made_ms, report })
      .onConflict('providers')
      .merge();
    const newest = trx('reconciliations')
      .select('providers')
      .orderBy('made_ms', 'desc')
      .limit(KEPT);
    await trx('reconciliations').whereNotIn('providers', newest).delete();
  });
}

async function kept(database: Database): Promise<{ made_ms: number; report: string }[]> {
  const rows = await database.read<{ made_ms: bigint; report: string }[]>((knex) =>
    knex('reconciliations').orderBy('made_ms', 'desc').select('made_ms', 'report'),
  );
  return rows.map(({ made_ms, report }) => ({ made_ms: Number(made_ms), report }));
}
