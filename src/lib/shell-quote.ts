/** A word as it must be typed in a shell. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/u.test(text) ? text : shellQuoted(text);
}

/** Text that a shell takes as one word, whatever it holds. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
