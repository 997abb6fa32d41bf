import { setImmediate as nextTurn } from 'node:timers/promises';

/** Smaller texts are parsed as they are: nothing in them takes long. */
export const LARGE_BYTES = 64 * 1024;
/** Levels of objects and lists in a large text. */
const DEPTH = 200;
/** Decoding more at once would keep others waiting. */
const PIECE_BYTES = 2 * 1024 ** 2;
/** Strings are looked through byte by byte for so long, then searched for their end. */
const NEAR_BYTES = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Why a text is not parsed, or how many values it has, counted from its punctuation. */
export type Weighed = { values: number } | { over: 'values' | 'depth' };

/**
 * Counts the values of a JSON text without parsing it, as far as the limit: parsed, each costs many
 * times its bytes. What is not JSON is counted as well, and left to the parser.
 */
export function weigh(bytes: Buffer, most_values: number): Weighed {
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
        if (depth > DEPTH) return { over: 'depth' };
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case 0x2c: // ,
      case 0x3a: // :
        values += 1;
        if (values > most_values) return { over: 'values' };
        break;
    }
  }
  return values > most_values ? { over: 'values' } : { values };
}

/** Where the string that begins here ends; the end of the bytes where it does not. */
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
 * The text of many bytes, a piece a turn: decoding 20 MB at once would stop all others for a tenth
 * of a second.
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

/** No later than there, and not within a character. */
function boundary(bytes: Buffer, at: number): number {
  if (at >= bytes.length) return bytes.length;
  let to = at;
  while (to > at - 4 && ((bytes[to] ?? 0) & 0xc0) === 0x80) to -= 1;
  return to;
}
