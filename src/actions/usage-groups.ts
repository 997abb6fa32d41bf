import { GatewayError } from '../core/errors.js';
import { DAY_MS, dayName, startOf } from './days.js';
import type { UsageSplit } from '../store/ledger/usage-days.js';
import { NOTHING_USED, type UsageFigures, type UsageRow } from '../store/ledger/usage.js';
import { invalid } from './action.js';

export const GROUPINGS = ['day', 'model', 'key', 'agent'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** The usage of one day, model, key or agent. */
export interface UsageGroup extends UsageFigures {
  /**
   * The day (`YYYY-MM-DD`, UTC), the model's ID, the key's, or the agent's name; null for usage
   * without a key, or of an unknown agent.
   */
  group: string | null;
}

export interface Usage {
  /** Days in order; others by falling cost. Groups without a call are left out. */
  groups: UsageGroup[];
  totals: UsageFigures;
}

/** Days of UTC, both included. */
export interface UsageRange {
  /** `YYYY-MM-DD` */
  from: string;
  to: string;
  from_ms: number;
  /** Exclusive: the beginning of the day after `to`. */
  to_ms: number;
}

const DEFAULT_DAYS = 30;
export const MAX_DAYS = 366;

/**
 * Reads the range of days; the last 30 without parameters. Throws `GatewayError` (400, naming
 * `from` or `to`) for text that is not a day, an end before its beginning, and a range of more than
 * 366 days.
 */
export function usageRange(
  query: { from?: string | undefined; to?: string | undefined },
  now_ms: number,
): UsageRange {
  const last_ms = query.to === undefined ? startOfDay(now_ms) : dayOf('to', query.to);
  const standard_ms = last_ms - (DEFAULT_DAYS - 1) * DAY_MS;
  const from_ms = query.from === undefined ? standard_ms : dayOf('from', query.from);
  const days = (last_ms - from_ms) / DAY_MS + 1;
  if (days < 1) throw invalid('from', 'from must not be after to.');
  if (days > MAX_DAYS) throw invalid('from', `The range may have at most ${MAX_DAYS} days.`);
  return { from: dayName(from_ms), to: dayName(last_ms), from_ms, to_ms: last_ms + DAY_MS };
}

/** The error that `usageRange` throws for these days; undefined if they are valid. */
export function wrongDays(
  query: Parameters<typeof usageRange>[0],
  now_ms: number,
): GatewayError | undefined {
  try {
    usageRange(query, now_ms);
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

/** The usage that is summed; a missing field matches all. */
interface UsageFilter {
  model?: string | undefined;
  key_id?: string | undefined;
  agent?: string | undefined;
}

const SPLITS = { day: 'day_ms', model: 'model', key: 'key_id', agent: 'agent' } as const;

/** By what `groupUsage` needs rows split: a year has thousands of rows by all. */
export function splitOf(by: Grouping, only: UsageFilter): UsageSplit[] {
  return Object.values(SPLITS).filter(
    (name) => name === SPLITS[by] || (name !== 'day_ms' && only[name] !== undefined),
  );
}

/** Sums rows by day, model, key or agent, within the filter. */
export function groupUsage(rows: readonly UsageRow[], by: Grouping, only: UsageFilter = {}): Usage {
  const totals = nothing();
  const groups = new Map<string | null, UsageGroup>();
  for (const row of rows) {
    if (only.model !== undefined && row.model !== only.model) continue;
    if (only.key_id !== undefined && row.key_id !== only.key_id) continue;
    if (only.agent !== undefined && row.agent !== only.agent) continue;
    const name = by === 'key' ? row.key_id : row[by];
    const group = groups.get(name) ?? Object.assign(nothing(), { group: name });
    groups.set(name, group);
    add(group, row);
    add(totals, row);
  }
  return { groups: [...groups.values()].toSorted(by === 'day' ? byDay : byCost), totals };
}

function nothing(): UsageFigures {
  return { ...NOTHING_USED };
}

/** The counts of calls, in the order in which they are shown. */
export const COUNTS = [
  'calls',
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'audio_input_tokens',
  'image_input_tokens',
  'completion_tokens',
  'audio_output_tokens',
  'image_output_tokens',
  'reasoning_tokens',
  'images',
  'video_seconds',
] as const satisfies readonly (keyof UsageFigures)[];

const AMOUNTS = [
  'cost_nano',
  'upstream_cost_nano',
  'profit_nano',
  'saved_nano',
  'lost_nano',
] as const satisfies readonly (keyof UsageFigures)[];

function add(sum: UsageFigures, row: UsageFigures): void {
  for (const name of COUNTS) sum[name] += row[name];
  for (const name of AMOUNTS) sum[name] += row[name];
}

function byDay(a: UsageGroup, b: UsageGroup): number {
  return compare(a.group ?? '', b.group ?? '');
}

function byCost(a: UsageGroup, b: UsageGroup): number {
  return compare(b.cost_nano, a.cost_nano) || b.calls - a.calls || byDay(a, b);
}

function compare<T extends string | bigint>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function startOfDay(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

function dayOf(param: string, text: string): number {
  const ms = startOf(text);
  if (ms === undefined) throw invalid(param, `${param} must be a day such as 2026-11-21.`);
  return ms;
}
