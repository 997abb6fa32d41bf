import { randomUUID } from 'node:crypto';
import { longWorkTurns } from './event-loop-turns.js';
import { decode, decodePiece, parseCounted, PIECE_BYTES, type StringTaker } from './json-text.js';
import { mapChanged } from './objects.js';

/** Shorter strings are parsed with what stands around them, and written anew. */
const LONG = 256;
/** If known texts are less than this part of the body, to find them takes longer than they do. */
const SMALL_PART = 1 / 16;
/** The bytes of long strings that are read in one turn of the event loop. */
const TURN_BYTES = 1024 ** 2;

const COLON = 0x3a;
/** White space between the tokens of JSON. */
const SPACES: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The bytes of a string in a JSON text, with its quotes. */
interface Place {
  from: number;
  to: number;
}

/** Notes where the long strings of a JSON text stand, while its values are counted. */
export class LongStrings implements StringTaker {
  readonly places: Place[] = [];

  add(from: number, to: number): void {
    if (to - from >= LONG) this.places.push({ from, to });
  }
}

/** Takes the fields whose texts the gateway moves and measures, but need not read. */
export interface MovedTaker {
  add(holder: Readonly<Record<string, unknown>>, field: string): void;
}

/** Gives `moved` each such field of a body, which is not validated yet. */
export type FindMoved = (body: unknown, moved: MovedTaker) => void;

/**
 * A parsed JSON text, and its long strings as they came if it has any. Where `FindMoved` finds a
 * text, `value` has a mark, which `texts` writes and unseals.
 */
export interface ParsedJson {
  value: unknown;
  texts?: SourceTexts;
}

/**
 * The long strings of a JSON text as the client wrote them. A value that contains some of them is
 * written with those bytes, which costs much less than to escape and to encode them again. Those
 * that nobody reads are sealed: a mark stands for each, which may be moved, joined to other texts
 * and found not to be blank, and they are never decoded.
 */
export class SourceTexts {
  /** No string of a client can contain it: it is a random UUID. */
  readonly #mark = randomUUID();
  readonly #known = new KnownTexts();
  /** The bytes of sealed texts in UTF-8, by the index of their place. */
  readonly #sealed_bytes = new Map<number, number>();
  #bytes: Buffer | undefined;

  private constructor(
    bytes: Buffer,
    private readonly places: readonly Place[],
  ) {
    this.#bytes = bytes;
  }

  /**
   * Parses valid UTF-8 whose values were counted. Each long string is decoded and parsed by itself,
   * and the rest with marks in their places: the garbage of a large text as a whole costs more than
   * its parsing, and one character that is not ASCII would double the memory of all strings.
   * Undefined if the text is not JSON.
   */
  static async parse(
    bytes: Buffer,
    { places }: LongStrings,
    findMoved?: FindMoved,
  ): Promise<ParsedJson | undefined> {
    const long = places.filter(({ to }) => !isFollowedByColon(bytes, to));
    if (long.length === 0) return parsed(parseCounted(await decode(bytes)));
    const texts = new SourceTexts(bytes, long);
    const value = parseCounted(await texts.#markedText(bytes));
    if (value === undefined) return undefined;
    if (findMoved) await texts.#seal(value, bytes, findMoved);
    const strings = await texts.#parseOthers();
    return strings && { value: texts.#filled(value, (index) => strings.get(index)), texts };
  }

  /** Frees the bytes, unless a text is sealed. From then on, every string is written anew. */
  release(): void {
    if (this.#sealed_bytes.size === 0) this.#bytes = undefined;
  }

  /** The JSON of a value, which parses to what `JSON.stringify` would have written. */
  write(value: unknown): string | Buffer {
    const bytes = this.#bytes;
    if (!bytes) return JSON.stringify(value);
    const isPart = this.#known.characters > bytes.length * SMALL_PART;
    const text = JSON.stringify(isPart ? this.#marked(value) : value);
    const pieces = text.split(this.#mark);
    return pieces.length === 1 ? text : this.#joined(pieces, bytes);
  }

  /** The bytes of a text in UTF-8, with those of the sealed texts in it. */
  bytesOf(text: string): number {
    const bytes = Buffer.byteLength(text);
    if (this.#sealed_bytes.size === 0 || !text.includes(this.#mark)) return bytes;
    const marks = text.split(this.#mark).slice(1).map(markAt);
    return marks.reduce(
      (sum, { index, length }) =>
        sum - this.#mark.length - length + (this.#sealed_bytes.get(index) ?? 0),
      bytes,
    );
  }

  /** A value, in which each sealed text is replaced in place by the text itself. */
  unseal<Value>(value: Value): Value {
    if (this.#sealed_bytes.size === 0) return value;
    return this.#filled(value, (index) => this.#textAt(index)) as Value;
  }

  /** Does the same as `unseal`, with turns of the event loop for other requests. */
  async unsealInTurns(value: unknown): Promise<void> {
    const turns = new ByteTurns();
    for (const [index, bytes] of this.#sealed_bytes) {
      this.#textAt(index);
      if (turns.isOver(bytes)) await longWorkTurns.next();
    }
    this.unseal(value);
  }

  /** The JSON text with a mark in place of each long string. */
  #markedText(bytes: Buffer): Promise<string> {
    const long_bytes = this.places.reduce((sum, { from, to }) => sum + to - from, 0);
    const most_mark_bytes = this.#markOf(this.places.length).length + 2;
    const marked = Buffer.allocUnsafe(
      bytes.length - long_bytes + this.places.length * most_mark_bytes,
    );
    let at = 0;
    let written = 0;
    for (let index = 0; index < this.places.length; index += 1) {
      const { from, to } = this.places[index]!;
      written += bytes.copy(marked, written, at, from);
      written += marked.write(`"${this.#markOf(index)}"`, written, 'latin1');
      at = to;
    }
    written += bytes.copy(marked, written, at);
    return decode(marked.subarray(0, written));
  }

  #markOf(index: number): string {
    return markOf(this.#mark, index);
  }

  async #seal(value: unknown, bytes: Buffer, findMoved: FindMoved): Promise<void> {
    const moved = new MovedMarks(this.#mark);
    findMoved(value, moved);
    const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const turns = new ByteTurns();
    for (const index of moved.indexes) {
      const place = this.places[index];
      if (!place) continue;
      const text_bytes = plainBytes(bytes, words, place);
      if (text_bytes !== undefined) this.#sealed_bytes.set(index, text_bytes);
      if (turns.isOver(place.to - place.from)) await longWorkTurns.next();
    }
  }

  /** The texts that are not sealed, by the index of their place; undefined if one is not JSON. */
  async #parseOthers(): Promise<ReadonlyMap<number, string> | undefined> {
    const texts = new Map<number, string>();
    const turns = new ByteTurns();
    for (const [index, { from, to }] of this.places.entries()) {
      if (this.#sealed_bytes.has(index)) continue;
      const text = await this.#parsedAt(index);
      if (text === undefined) return undefined;
      texts.set(index, text);
      if (turns.isOver(to - from)) await longWorkTurns.next();
    }
    return texts;
  }

  async #parsedAt(index: number): Promise<string | undefined> {
    const string = this.#stringAt(index);
    const isHuge = string.length > PIECE_BYTES;
    const text = parseCounted(isHuge ? await decode(string) : decodePiece(string));
    if (typeof text !== 'string') return undefined;
    this.#known.add(text, index);
    return text;
  }

  /** The text of a sealed string. */
  #textAt(index: number): string {
    const known = this.#known.at(index);
    if (known !== undefined) return known;
    const text = String(parseCounted(decodePiece(this.#stringAt(index))));
    this.#known.add(text, index);
    return text;
  }

  #stringAt(index: number): Buffer {
    const { from, to } = this.places[index] ?? { from: 0, to: 0 };
    return (this.#bytes ?? Buffer.alloc(0)).subarray(from, to);
  }

  /** The value, changed in place unless it is a string, with texts in place of marks. */
  #filled(value: unknown, textAt: (index: number) => string | undefined): unknown {
    return replaceTexts(value, new MarkFiller(this.#mark, textAt));
  }

  /** The value with a mark in place of each known text, in a copy of what contains one. */
  #marked(value: unknown): unknown {
    return copyTexts(value, new TextMarker(this.#known, this.#mark));
  }

  /** Writes the pieces between marks, with the bytes of the source in place of these. */
  #joined(pieces: readonly string[], bytes: Buffer): Buffer {
    const [start = '', ...marked] = pieces;
    const parts: (Place & { rest: string })[] = [];
    let whole_bytes = Buffer.byteLength(start);
    for (const piece of marked) {
      const { index, length } = markAt(piece);
      const { from, to } = this.places[index] ?? { from: 0, to: 0 };
      // The quotes of the string stand in the pieces.
      const part = { from: from + 1, to: to - 1, rest: piece.slice(length) };
      whole_bytes += part.to - part.from + Buffer.byteLength(part.rest);
      parts.push(part);
    }
    const whole = Buffer.allocUnsafe(whole_bytes);
    let at = whole.write(start);
    for (const { from, to, rest } of parts) {
      at += bytes.copy(whole, at, from, to);
      at += whole.write(rest, at);
    }
    return whole;
  }
}

// What follows are classes, as V8 drops the compiled code of a closure with the call that made it.

/** The indexes of the sealed texts that may be moved. */
class MovedMarks implements MovedTaker {
  readonly indexes: number[] = [];

  constructor(private readonly mark: string) {}

  add(holder: Readonly<Record<string, unknown>>, field: string): void {
    const text = holder[field];
    if (typeof text !== 'string' || !text.startsWith(this.mark)) return;
    this.indexes.push(markAt(text.slice(this.mark.length)).index);
  }
}

interface TextReplacer {
  replace(text: string): string;
}

/** Puts texts in place of their marks. */
class MarkFiller implements TextReplacer {
  constructor(
    private readonly mark: string,
    private readonly textAt: (index: number) => string | undefined,
  ) {}

  replace(text: string): string {
    if (text.length <= this.mark.length || !text.includes(this.mark)) return text;
    const [start = '', ...pieces] = text.split(this.mark);
    let filled = start;
    for (const piece of pieces) {
      const { index, length } = markAt(piece);
      filled += (this.textAt(index) ?? markOf(this.mark, index)) + piece.slice(length);
    }
    return filled;
  }
}

/** Puts marks in place of known texts. */
class TextMarker implements TextReplacer {
  constructor(
    private readonly known: KnownTexts,
    private readonly mark: string,
  ) {}

  replace(text: string): string {
    const index = text.length < LONG ? undefined : this.known.indexOf(text);
    return index === undefined ? text : markOf(this.mark, index);
  }
}

/** Divides work on strings into turns of the event loop. */
class ByteTurns {
  #bytes = 0;

  /** Counts the bytes of a string. True if enough were read in this turn. */
  isOver(bytes: number): boolean {
    this.#bytes += bytes;
    if (this.#bytes < TURN_BYTES) return false;
    this.#bytes = 0;
    return true;
  }
}

function parsed(value: unknown): ParsedJson | undefined {
  return value === undefined ? undefined : { value };
}

/** Whether a string that ends before `at` is the name of a field. */
function isFollowedByColon(bytes: Buffer, at: number): boolean {
  let next = at;
  while (SPACES.has(bytes[next])) next += 1;
  return bytes[next] === COLON;
}

/** Ends the index in a mark. */
const MARK_END = ';';

function markOf(mark: string, index: number): string {
  return `${mark}${index}${MARK_END}`;
}

/** The index at the beginning of what stands behind a mark, and its length with its end. */
function markAt(text: string): { index: number; length: number } {
  const end = text.indexOf(MARK_END);
  return { index: Number(text.slice(0, end)), length: end + 1 };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** The first character that is not a control character. */
const SPACE = 0x20;
const DELETE = 0x7f;
/** The characters that may follow a backslash, but `u`, by their codes. */
const IS_ESCAPE = Uint8Array.from({ length: 256 }, (_, code) => {
  return '"\\/bfnrt'.includes(String.fromCharCode(code)) ? 1 : 0;
});
const WORD_BYTES = 4;

/**
 * The bytes in UTF-8 of the text of a string that may be sealed: it is valid, has no escape by its
 * number, and begins with a character that shows it not to be blank. Undefined for any other. Four
 * bytes are read at once, which takes a third of the time.
 */
function plainBytes(bytes: Buffer, words: DataView, { from, to }: Place): number | undefined {
  const first = bytes[from + 1] ?? 0;
  if (first <= SPACE || first >= DELETE || first === BACKSLASH) return undefined;
  const end = to - 1;
  if (bytes[end] !== QUOTE) return undefined;
  let escapes = 0;
  let at = from + 1;
  for (;;) {
    let found = 0;
    while (at + WORD_BYTES <= end && found === 0) {
      found = notPlain(words.getInt32(at, true));
      at += found === 0 ? WORD_BYTES : lowestByte(found);
    }
    if (found === 0) while (at < end && bytes[at]! >= SPACE && bytes[at] !== BACKSLASH) at += 1;
    if (at >= end) return end - from - 1 - escapes;
    if (bytes[at] !== BACKSLASH || IS_ESCAPE[bytes[at + 1]!] === 0) return undefined;
    escapes += 1;
    at += 2;
  }
}

/**
 * Marks bytes below 0x20 and backslashes by the highest bit, by the usual arithmetic for that. The
 * lowest mark is right; those above it may be wrong.
 */
function notPlain(word: number): number {
  const other = word ^ 0x5c5c5c5c;
  return (((word - 0x20202020) & ~word) | ((other - 0x01010101) & ~other)) & 0x80808080;
}

function lowestByte(marks: number): number {
  return (31 - Math.clz32(marks & -marks)) >> 3;
}

/** The value, with its texts replaced. It is changed in place unless it is a text. */
function replaceTexts(value: unknown, replacer: TextReplacer): unknown {
  if (typeof value === 'string') return replacer.replace(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) {
      const one: unknown = value[at];
      const replaced = replaceTexts(one, replacer);
      if (replaced !== one) value[at] = replaced;
    }
    return value;
  }
  const holder = value as Record<string, unknown>;
  for (const name of Object.keys(holder)) {
    const one = holder[name];
    const replaced = replaceTexts(one, replacer);
    // Of a name such as `__proto__` the object has a field of its own, which is set.
    if (replaced !== one) holder[name] = replaced;
  }
  return value;
}

/** The value, with its texts replaced in a copy of what contains them. */
function copyTexts(value: unknown, replacer: TextReplacer): unknown {
  if (typeof value === 'string') return replacer.replace(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    return mapChanged<unknown, [TextReplacer]>(value, copyTexts, replacer);
  }
  const holder = value as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(holder)) {
    const one = holder[name];
    const replaced = copyTexts(one, replacer);
    if (replaced !== one) (copy ??= { ...holder })[name] = replaced;
  }
  return copy ?? value;
}

/** Further texts that look alike are written anew: all of them are compared with each other. */
const MOST_ALIKE = 8;
/** So many characters of a text tell it from others. */
const SAMPLES = 64;

/**
 * The texts that were parsed, and the indexes of their places, found by some of their characters:
 * to hash all takes as long as parsing.
 */
class KnownTexts {
  readonly #alike = new Map<number, { text: string; index: number }[]>();
  readonly #texts = new Map<number, string>();
  characters = 0;

  add(text: string, index: number): void {
    this.#texts.set(index, text);
    this.characters += text.length;
    if (text.length < LONG) return;
    const sample = sampleOf(text);
    const known = this.#alike.get(sample);
    if (!known) this.#alike.set(sample, [{ text, index }]);
    else if (known.length < MOST_ALIKE) known.push({ text, index });
  }

  at(index: number): string | undefined {
    return this.#texts.get(index);
  }

  indexOf(text: string): number | undefined {
    return this.#alike.get(sampleOf(text))?.find((one) => one.text === text)?.index;
  }
}

function sampleOf(text: string): number {
  const step = Math.floor(text.length / SAMPLES);
  let sample = text.length;
  for (let at = 0; at < SAMPLES; at += 1) {
    sample = (Math.imul(sample, 31) + text.charCodeAt(at * step)) | 0;
  }
  return sample;
}
