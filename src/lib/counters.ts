import { isRecord } from './objects.js';

type Fields = Record<string, unknown>;

/**
 * Merges two reports of the same counters, such as those in the first and in the last event of a
 * stream. Counters only grow, so one that is missing or zero in the later report keeps its value.
 * Any other takes the later value, also one that is no count: billing believes none of those.
 * Counters may lie one level deep.
 */
export function mergeCounters<Counters extends object>(
  before: Counters | undefined,
  later: Counters,
): Counters {
  if (before === undefined) return later;
  const merged = mergeFields(before, later, (one, other) =>
    isRecord(one) && isRecord(other) ? mergeFields(one, other, mergeCount) : mergeCount(one, other),
  );
  return merged as Counters;
}

function mergeFields(
  before: object | undefined,
  later: object,
  merge: (before: unknown, later: unknown) => unknown,
): Fields {
  const merged: Fields = { ...before };
  for (const [name, value] of Object.entries(later)) merged[name] = merge(merged[name], value);
  return merged;
}

function mergeCount(before: unknown, later: unknown): unknown {
  const isSilent = later === undefined || later === null || later === 0;
  return isSilent ? (before ?? later) : later;
}
