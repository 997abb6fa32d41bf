import { isRecord } from '../lib/objects.js';
import { UpstreamError } from '../core/upstream-error.js';
import type { Upstream } from '../core/model.js';

/**
 * Applies `drop`, `rename` and `set` of an upstream entry to the body of a template. Blocks in
 * `set` are merged, so that an inner field can be set alone. Throws `UpstreamError` if the template
 * produced no block.
 */
export function applyOverrides(
  made: unknown,
  { drop, rename, set }: Upstream,
): Record<string, unknown> {
  if (!isRecord(made)) throw new UpstreamError('broken', 'The request to the upstream is empty.');
  const kept = Object.entries(made).filter(([name]) => !drop.includes(name));
  const renamed = kept.map(([name, value]) => {
    return [Object.hasOwn(rename, name) ? (rename[name] ?? name) : name, value] as const;
  });
  return merged(Object.fromEntries(renamed), set);
}

function merged(
  base: Record<string, unknown>,
  over: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const result = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const under = result[name];
    result[name] = isRecord(under) && isRecord(value) ? merged(under, value) : value;
  }
  return result;
}
