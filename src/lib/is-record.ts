/** Whether a value is an object in the sense of JSON: not null and not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; empty if the value is not a list. */
export function recordsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Whether a value has all of these methods. */
export function hasMethods(value: unknown, names: readonly string[]): boolean {
  return isRecord(value) && names.every((name) => typeof value[name] === 'function');
}
