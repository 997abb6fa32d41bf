type Allowed = Readonly<Record<string, readonly unknown[] | undefined>>;

export interface UnsupportedValue {
  field: string;
  message: string;
}

/**
 * The first field of a call whose value the manifest's `accepts` does not list, and a sentence
 * about it. An absent field is accepted.
 */
export function unsupportedValue(
  call: Readonly<Record<string, unknown>>,
  accepts: Allowed | undefined,
  prefix: string,
): UnsupportedValue | undefined {
  for (const [field, values] of Object.entries(accepts ?? {})) {
    const value = call[field];
    if (!values || value === undefined || values.includes(value)) continue;
    return { field: prefix + field, message: `${prefix}${field} must be ${choice(values)} here.` };
  }
  return undefined;
}

/** Joins values as in `4, 6 or 8`. */
function choice(values: readonly unknown[]): string {
  const words = values.map(String);
  const last = words.pop() ?? '';
  return words.length === 0 ? last : `${words.join(', ')} or ${last}`;
}
