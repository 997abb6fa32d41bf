/** The most that the header `tollgate-ignored` may hold: names are the client's to choose. */
const HEADER_CHARACTERS = 1_000;

/** A field name as a header can carry it: no line breaks, no other alphabets, not too long. */
export function headerSafe(name: string): string {
  return name.replaceAll(/[^\w.[\]-]/gu, '?').slice(0, 64);
}

/** Adds the names that are not known to those that were left out; null is as if it were absent. */
export function noteExtras(
  value: object,
  known: ReadonlySet<string>,
  where: string,
  ignored: Set<string>,
): void {
  for (const name in value) {
    if (!known.has(name) && Reflect.get(value, name) !== null)
      ignored.add(`${where}.${headerSafe(name)}`);
  }
}

/** The value of `tollgate-ignored`: the names of the fields that were left out. */
export function ignoredHeader(names: readonly string[]): string {
  const all = names.join(', ');
  if (all.length <= HEADER_CHARACTERS) return all;
  return `${all.slice(0, all.lastIndexOf(', ', HEADER_CHARACTERS))}, ...`;
}
