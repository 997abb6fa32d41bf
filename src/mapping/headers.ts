/** Headers of one call, as a manifest has them: the faulty ones are told elsewhere. */
export function headersOf(
  headers: Readonly<Record<string, string | undefined>> = {},
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), value]],
    ),
  );
}
