import { UpstreamError } from '../../src/core/upstream-error.js';
import type { Upstream } from '../../src/core/model.js';
import { isRecord, memoizeByObject } from '../../src/lib/objects.js';

type RequestFields = Record<string, unknown>;

/** Values that ask for nothing, so that nothing is lost without them. */
const NEUTRAL: Readonly<Record<string, unknown>> = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  logprobs: false,
  top_logprobs: 0,
  parallel_tool_calls: true,
  verbosity: 'medium',
  reasoning_effort: 'none',
};

/** What a flag of `wire` lists for the longest prefix of a model's name; null if it has none. */
export function byPrefix(flag: unknown, model: string): readonly unknown[] | null {
  const prefixes = Object.entries(isRecord(flag) ? flag : {})
    .filter(([prefix]) => model.startsWith(prefix))
    .sort(([a], [b]) => b.length - a.length);
  const values: unknown = prefixes[0]?.[1];
  return Array.isArray(values) ? values : null;
}

/** The fields that an upstream's model refuses, by the flag `refused_fields`. */
export const refusedOf = memoizeByObject(
  ({ model, provider }: Upstream): readonly string[] | null => {
    const names = byPrefix(provider.wire.refused_fields, model);
    return names && names.filter((name) => typeof name === 'string');
  },
);

/**
 * Leaves out a field that the model refuses, in place. Returns true if it asked for something.
 * Throws the `UpstreamError` `unsupported` for stop sequences: without them the answer would be
 * another.
 */
export function leaveOutField(fields: RequestFields, name: string): boolean {
  const value = fields[name];
  if (value === undefined) return false;
  if (name === 'stop') {
    const message = 'stop: this model takes no stop sequences.';
    throw new UpstreamError('unsupported', message, undefined, { param: name });
  }
  delete fields[name];
  return NEUTRAL[name] !== value;
}
