type RawHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The headers of an answer, each as one text. */
export function joinHeaders(raw: RawHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in raw) {
    const value = raw[name];
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return headers;
}
