/** The valid headers that a manifest sets for one call; faulty ones are reported elsewhere. */
export function headersOf(
  headers: Readonly<Record<string, string | undefined>> = {},
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), value]],
    ),
  );
}
