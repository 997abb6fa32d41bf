import type { Upstream } from './model.js';

type Fields = Record<string, unknown>;

/**
 * The fields of a call after `drop`, `rename` and `set` of the upstream and its manifest. Fields
 * that are `fixed` by the gateway, because price or decoding depend on them, cannot be set.
 */
export function changedFields(
  fields: Readonly<Fields>,
  { drop, rename, set }: Upstream,
  fixed: ReadonlySet<string>,
): Fields {
  const body = { ...fields };
  for (const name of drop) delete body[name];
  renameFields(body, rename, () => true);
  setFields(body, set, fixed);
  return body;
}

/** Renames fields in place, those that are there and may be renamed. */
export function renameFields(
  body: Fields,
  rename: Upstream['rename'],
  isAllowed: (from: string, to: string) => boolean,
): void {
  for (const [from, to] of Object.entries(rename)) {
    if (!Object.hasOwn(body, from) || !isAllowed(from, to)) continue;
    body[to] = body[from];
    delete body[from];
  }
}

/** Sets fields in place, but those that are `fixed`. */
export function setFields(body: Fields, set: Upstream['set'], fixed: ReadonlySet<string>): void {
  for (const [name, value] of Object.entries(set)) if (!fixed.has(name)) body[name] = value;
}
