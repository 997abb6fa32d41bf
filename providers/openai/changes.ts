import type { Upstream } from '../../src/core/model.js';

/**
 * The fields of a call as an upstream's entry and manifest change them: some dropped, some under
 * another name, some set. What is `fixed` by the gateway, because it is priced or because an answer
 * would be unreadable, is not set.
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
