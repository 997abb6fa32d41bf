import type { Upstream } from '../../src/core/model.js';

/**
 * The fields of a call after `drop`, `rename` and `set` of the upstream and its manifest. Fields
 * that are `fixed` by the gateway, because price or decoding depend on them, cannot be set.
 */
export function changed(
  fields: Readonly<Record<string, unknown>>,
  { drop, rename, set }: Upstream,
  fixed: readonly string[],
): Record<string, unknown> {
  const body: Record<string, unknown> = { ...fields };
  for (const name of drop) delete body[name];
  for (const [from, to] of Object.entries(rename)) {
    if (!Object.hasOwn(body, from)) continue;
    body[to] = body[from];
    delete body[from];
  }
  for (const [name, value] of Object.entries(set)) {
    if (!fixed.includes(name)) body[name] = value;
  }
  return body;
}
