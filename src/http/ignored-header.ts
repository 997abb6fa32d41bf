/** The maximum length of the header `tollgate-ignored`: clients choose the names in it. */
const HEADER_CHARACTERS = 1_000;

/** A field name that is safe in a header: ASCII, no line breaks, not too long. */
export function headerSafe(name: string): string {
  return name.replaceAll(/[^\w.[\]-]/gu, '?').slice(0, 64);
}

/** Adds the names of unknown fields to the ignored ones. A field that is null counts as absent. */
export function noteUnknownFields(
  value: object,
  known: ReadonlySet<string>,
  where: string,
  ignored: Set<string>,
): void {
  for (const name in value) {
    const isGiven = Reflect.get(value, name) !== null;
    if (isGiven && !known.has(name)) ignored.add(`${where}.${headerSafe(name)}`);
  }
}

/** The value of the header `tollgate-ignored`: the names of the ignored fields. */
export function ignoredHeader(names: readonly string[]): string {
  const all = names.join(', ');
  if (all.length <= HEADER_CHARACTERS) return all;
  return `${all.slice(0, all.lastIndexOf(', ', HEADER_CHARACTERS))}, ...`;
}
