/** Quotes a word for a shell, if it needs quotes. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/u.test(text) ? text : shellQuoted(text);
}

/** Quotes any text as one word for a shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
