import { isAscii, isUtf8, transcode } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { longWorkTurns } from './event-loop-turns.js';

/** Smaller texts are parsed without a check, since that never takes long. */
export const LARGE_BYTES = 64 * 1024;
/** The maximum of nested objects and lists in a large text. */
const MAX_DEPTH = 200;
/** The bytes decoded in one turn of the event loop. More would block other requests. */
export const PIECE_BYTES = 2 * 1024 ** 2;
/** The most bytes of a character. */
const CHARACTER_BYTES = 4;
/** This many bytes of a string are read one by one. Then `indexOf` searches for its end. */
const NEAR_BYTES = 32;

/** So much of a text is encoded and counted before the whole. */
const START_CHARACTERS = 512 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The most values of one JSON text of an upstream: parsing more would block other requests. An
 * answer with the log probabilities of all its tokens has fewer.
 */
export const ANSWER_VALUES = 500_000;
/** The most values of all JSON texts within one request or answer, such as tools' arguments. */
const INNER_VALUES = 100_000;
/** A shorter text cannot be nested so deep that writing it again overflows the stack. */
export const SHALLOW_BYTES = 2_000;

/**
 * Parses JSON that an upstream wrote. Undefined if the text is not JSON, is nested too deep, or has
 * more than `ANSWER_VALUES`.
 */
export function parseJson(text: string): unknown {
  if (text.length > SHALLOW_BYTES && isStructure(text)) {
    if ('over' in countTextValues(text, ANSWER_VALUES)) return undefined;
  }
  return parseCounted(text);
}

/**
 * Parses the JSON that stands in strings of one request or answer. All of them together have a
 * limit of values, as many short ones cost as much as a long one.
 */
export class JsonTexts {
  #left = INNER_VALUES;
  #isOver = false;

  /** Whether a text was not parsed as it is nested too deep or has too many values. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Undefined if the text is not JSON, is nested too deep, or has more values than are left. */
  parse(text: string): unknown {
    if (isStructure(text)) {
      const counted = countTextValues(text, this.#left);
      this.#isOver ||= 'over' in counted;
      if ('over' in counted) return undefined;
      this.#left -= counted.values;
    }
    return parseCounted(text);
  }
}

/** Parses a text whose values were counted. Undefined if it is not JSON. */
export function parseCounted(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a text can be an object or a list. Any other JSON is one value. */
function isStructure(text: string): boolean {
  const start = text.trimStart()[0];
  return start === '{' || start === '[';
}

/** The number of values of a text, counted by its punctuation, or the limit that it exceeds. */
export type ValueCount = { values: number } | { over: 'values' | 'depth' };

/** Takes the strings of a JSON text as they stand in it, names of fields too. */
export interface StringTaker {
  /** `from` is the index of the opening quote, `to` that behind the closing one. */
  add(from: number, to: number): void;
}

/**
 * Counts the values of a JSON text up to a limit, without parsing it: a parsed value takes many
 * times its bytes. A text that is not JSON is counted too. The parser refuses it later.
 */
export function countValues(bytes: Buffer, max_values: number, strings?: StringTaker): ValueCount {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE: {
        const from = at;
        at = endOfString(bytes, at);
        strings?.add(from, at + 1);
        break;
      }
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

/** The same of a text. Most that are over a limit are so long before their end. */
function countTextValues(text: string, max_values: number): ValueCount {
  const start = text.length > START_CHARACTERS ? text.slice(0, START_CHARACTERS) : '';
  const counted = countValues(Buffer.from(start), max_values);
  return 'over' in counted ? counted : countValues(Buffer.from(text), max_values);
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
 * Decodes UTF-8, one piece in each turn of the event loop. Decoding a large body at once would
 * block all other requests. What is not UTF-8 becomes the replacement character.
 */
export async function decode(bytes: Buffer): Promise<string> {
  const decoder = isUtf8(bytes) ? undefined : new StringDecoder('utf8');
  let text = '';
  for (let from = 0; from < bytes.length;) {
    const end = endOfPiece(bytes, from + PIECE_BYTES);
    const piece = bytes.subarray(from, end);
    text += decoder ? decoder.write(piece) : decodePiece(piece);
    from = end;
    await longWorkTurns.next();
  }
  return text + (decoder?.end() ?? '');
}

/** The index, at most `end`, behind which no character goes on. */
function endOfPiece(bytes: Buffer, end: number): number {
  if (end >= bytes.length) return bytes.length;
  let at = end;
  while (at > end - CHARACTER_BYTES && (bytes[at]! & 0xc0) === 0x80) at -= 1;
  return at;
}

/** Decodes valid UTF-8 at once. These two ways take a third and a half of the time of `utf8`. */
export function decodePiece(piece: Buffer): string {
  if (isAscii(piece)) return piece.toString('latin1');
  return transcode(piece, 'utf8', 'utf16le').toString('utf16le');
}
