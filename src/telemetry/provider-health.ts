import { isStop } from '../core/errors.js';
import { UpstreamError, type Fault } from '../core/upstream-error.js';
import { parseJson } from '../lib/json-text.js';
import { validatorOfShipped } from '../lib/schemas.js';
import type {
  Failure,
  OutcomeReport,
  ProviderOutcomes,
  UnpricedUnit,
} from '../schema-types/outcome-report.js';

/** The number of minutes that the counts cover, the current one included. */
export const WINDOW_MINUTES = 5;

const MINUTE_MS = 60_000;
const MESSAGE_CHARACTERS = 300;
/** The most units without a price that are kept of a provider. Upstreams make up their names. */
const MAX_UNPRICED = 50;
/** The faults that are the client's. */
const CLIENT_FAULTS: ReadonlySet<Fault> = new Set(['rejected', 'context', 'policy', 'unsupported']);

interface Minute {
  at: number;
  answered: number;
  refused: number;
  failed: number;
}

interface Tally {
  /** One entry for each minute of the window. An entry is reused after its minute has passed. */
  minutes: readonly Minute[];
  last_success_ms: number | null;
  last_failure: Failure | null;
  unpriced: UnpricedUnit[];
}

/** Counts how the upstream calls of this process ended. Its memory does not grow with traffic. */
export class ProviderHealth {
  readonly #tallies = new Map<string, Tally>();

  constructor(readonly now: () => number) {}

  answered(provider: string): void {
    const now_ms = this.now();
    const tally = this.#tally(provider);
    minuteOf(tally, now_ms).answered += 1;
    tally.last_success_ms = now_ms;
  }

  /**
   * Counts a failed call. A call that the gateway ended to stop, or did not send for want of a
   * connection, says nothing of its provider.
   */
  failed(provider: string, error: unknown): void {
    if (isStop(error) || (error instanceof UpstreamError && error.fault === 'busy')) return;
    const now_ms = this.now();
    const tally = this.#tally(provider);
    const minute = minuteOf(tally, now_ms);
    const fault = error instanceof UpstreamError ? error.fault : 'broken';
    const isTooLarge = error instanceof UpstreamError && error.is_too_large;
    if (isTooLarge || CLIENT_FAULTS.has(fault)) {
      minute.refused += 1;
      return;
    }
    minute.failed += 1;
    const isOurs = error instanceof UpstreamError && !error.isQuoted;
    const shown = isOurs ? error.message : 'The upstream failed.';
    const message = shown.slice(0, MESSAGE_CHARACTERS);
    tally.last_failure = { at_ms: now_ms, fault, message };
  }

  /**
   * Notes that an upstream reports what no price covers. Returns true for the first time since the
   * configuration was loaded, unless too many are known.
   */
  unpriced(provider: string, { model, unit }: UnpricedUnit): boolean {
    const { unpriced } = this.#tally(provider);
    const isKnown = unpriced.some((one) => one.model === model && one.unit === unit);
    if (isKnown || unpriced.length >= MAX_UNPRICED) return false;
    unpriced.push({ model, unit });
    return true;
  }

  /** Forgets the providers that a reload has removed, and the prices that were missing before. */
  keep(providers: { has(name: string): boolean }): void {
    for (const [name, tally] of this.#tallies) {
      if (!providers.has(name)) this.#tallies.delete(name);
      tally.unpriced = [];
    }
  }

  report(): OutcomeReport {
    const current = minuteAt(this.now());
    const oldest = current - WINDOW_MINUTES + 1;
    const report: OutcomeReport = {};
    for (const [name, tally] of this.#tallies) {
      const { minutes, last_success_ms, last_failure, unpriced } = tally;
      const recent = minutes.filter(({ at }) => at >= oldest && at <= current);
      const sum = (kind: 'answered' | 'refused' | 'failed') =>
        recent.reduce((total, minute) => total + minute[kind], 0);
      const counts = { answered: sum('answered'), refused: sum('refused'), failed: sum('failed') };
      report[name] = Object.assign(counts, { last_success_ms, last_failure });
      if (unpriced.length > 0) report[name].unpriced = [...unpriced];
    }
    return report;
  }

  #tally(provider: string): Tally {
    let tally = this.#tallies.get(provider);
    if (!tally) {
      const minutes = Array.from({ length: WINDOW_MINUTES }, () => emptyMinute(0));
      tally = { minutes, last_success_ms: null, last_failure: null, unpriced: [] };
      this.#tallies.set(provider, tally);
    }
    return tally;
  }
}

/**
 * Adds up the reports of several processes, each as JSON; empty from one that has none yet. Those
 * in a form of another version are left out.
 */
export function mergedReports(notes: readonly string[]): OutcomeReport {
  const total: OutcomeReport = {};
  const isReport = validatorOfShipped('outcome-report', 'input');
  const reports = notes.map(parseJson).filter((one) => isReport(one)) as OutcomeReport[];
  for (const [name, outcomes] of reports.flatMap((report) => Object.entries(report))) {
    const sum = total[name];
    total[name] = sum ? added(sum, outcomes) : outcomes;
  }
  return total;
}

function added(a: ProviderOutcomes, b: ProviderOutcomes): ProviderOutcomes {
  const a_ms = a.last_failure?.at_ms ?? -1;
  const b_ms = b.last_failure?.at_ms ?? -1;
  const successes = [a.last_success_ms, b.last_success_ms].filter((ms) => ms !== null);
  const unpriced = distinctUnits([...(a.unpriced ?? []), ...(b.unpriced ?? [])]);
  return {
    answered: a.answered + b.answered,
    refused: a.refused + b.refused,
    failed: a.failed + b.failed,
    last_success_ms: successes.length === 0 ? null : Math.max(...successes),
    last_failure: a_ms >= b_ms ? a.last_failure : b.last_failure,
    ...(unpriced.length > 0 && { unpriced }),
  };
}

function distinctUnits(units: readonly UnpricedUnit[]): UnpricedUnit[] {
  return [...new Map(units.map((one) => [`${one.model} ${one.unit}`, one])).values()];
}

function minuteAt(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}

function minuteOf({ minutes }: Tally, now_ms: number): Minute {
  const at = minuteAt(now_ms);
  const minute = minutes[at % WINDOW_MINUTES] ?? emptyMinute(at);
  if (minute.at !== at) Object.assign(minute, emptyMinute(at));
  return minute;
}

function emptyMinute(at: number): Minute {
  return { at, answered: 0, refused: 0, failed: 0 };
}
