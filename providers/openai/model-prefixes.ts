import type { Upstream } from '../../src/core/model.js';

/** Whether a wire flag lists a prefix of the model's name. */
export function isListed({ model }: Upstream, prefixes: unknown): boolean {
  if (!Array.isArray(prefixes)) return false;
  return prefixes.some((prefix) => typeof prefix === 'string' && model.startsWith(prefix));
}
