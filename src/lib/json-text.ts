import { setImmediate as nextTurn } from 'node:timers/promises';

/** Smaller texts are parsed without a check, since that never takes long. */
export const LARGE_BYTES = 64 * 1024;
/** The maximum of nested objects and lists in a large text. */
const MAX_DEPTH = 200;
/** The bytes decoded in one turn of the event loop. More would block other requests. */
const PIECE_BYTES = 2 * 1024 ** 2;
/** This many bytes of a string are read one by one. Then `indexOf` searches for its end. */
const NEAR_BYTES = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The number of values of a text, counted by its punctuation, or the limit that it exceeds. */
export type ValueCount = { values: number } | { over: 'values' | 'depth' };

/**
 * Counts the values of a JSON text up to a limit, without parsing it: a parsed value takes many
 * times its bytes. A text that is not JSON is counted too. The parser refuses it later.
 */
export function countValues(bytes: Buffer, max_values: number): ValueCount {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        values += 1;
        if (depth > MAX_DEPTH) return { over: 'depth' };
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case 0x2c: // ,
      case 0x3a: // :
        values += 1;
        if (values > max_values) return { over: 'values' };
        break;
    }
  }
  return values > max_values ? { over: 'values' } : { values };
}

/** The index of a string's closing quote; the end of the bytes if the string does not end. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1;
  for (;;) {
    for (const near = at + NEAR_BYTES; at < near; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE || byte === undefined) return at;
      if (byte === BACKSLASH) at += 1;
    }
    // A pair of backslash and character may straddle `at`, so its beginning is looked for.
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) return bytes.length;
    let escape = quote;
    while (escape > at && bytes[escape - 1] === BACKSLASH) escape -= 1;
    if ((quote - escape) % 2 === 0) return quote;
    at = quote + 1;
  }
}

/**
 * Decodes UTF-8, one piece in each turn of the event loop. Decoding 20 MB at once would block all
 * other requests for a tenth of a second.
 */
export async function decode(bytes: Buffer): Promise<string> {
  let text = '';
  for (let from = 0; from < bytes.length;) {
    const to = boundary(bytes, from + PIECE_BYTES);
    text += bytes.toString('utf8', from, to);
    from = to;
    await nextTurn();
  }
  return text;
}

/** The end of a piece: at `at` or up to three bytes before it, so that no character is split. */
function boundary(bytes: Buffer, at: number): number {
  if (at >= bytes.length) return bytes.length;
  let to = at;
  while (to > at - 4 && ((bytes[to] ?? 0) & 0xc0) === 0x80) to -= 1;
  return to;
}
