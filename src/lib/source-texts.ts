import { randomUUID } from 'node:crypto';
import { longWorkTurns } from './event-loop-turns.js';
import { decode, decodePiece, parseCounted, PIECE_BYTES, type StringTaker } from './json-text.js';

/** Shorter strings are parsed with what stands around them, and written anew. */
const LONG = 256;
/** The bytes of long strings that are parsed in one turn of the event loop. */
const TURN_BYTES = 1024 ** 2;

const COLON = 0x3a;
/** White space between the tokens of JSON. */
const SPACES: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The bytes of a string in a JSON text, with its quotes. */
interface Place {
  from: number;
  to: number;
}

/** One whose text has been read, with the bytes of the text in UTF-8. */
interface TextPlace extends Place {
  text_bytes: number;
}

/** Notes where the long strings of a JSON text stand, while its values are counted. */
export class LongStrings implements StringTaker {
  readonly places: Place[] = [];

  add(from: number, to: number): void {
    if (to - from >= LONG) this.places.push({ from, to });
  }
}

/** A parsed JSON text, and its long strings as they came if it has any. */
export interface ParsedJson {
  value: unknown;
  texts?: SourceTexts;
}

/**
 * The long strings of a JSON text as the client wrote them. A value that contains some of them is
 * written with those bytes, which costs much less than to escape and to encode them again.
 */
export class SourceTexts {
  #places: Places | undefined;
  #bytes: Buffer | undefined;

  private constructor(bytes: Buffer, places: Places) {
    this.#bytes = bytes;
    this.#places = places;
  }

  /**
   * Parses valid UTF-8 whose values were counted. Each long string is decoded and parsed by itself,
   * and the rest with marks in their places: the garbage of a large text as a whole costs more than
   * its parsing, and one character that is not ASCII would double the memory of all strings.
   * Undefined if the text is not JSON.
   */
  static async parse(bytes: Buffer, { places }: LongStrings): Promise<ParsedJson | undefined> {
    const long = places.filter(({ to }) => !isFollowedByColon(bytes, to));
    if (long.length === 0) return parsed(parseCounted(await decode(bytes)));
    const mark = randomUUID();
    const value = parseCounted(await decode(markedBytes(bytes, long, mark)));
    if (value === undefined) return undefined;
    const found = new Places();
    const texts: string[] = [];
    let turn_bytes = 0;
    for (const place of long) {
      const string = bytes.subarray(place.from, place.to);
      const isHuge = string.length > PIECE_BYTES;
      const written = isHuge ? await decode(string) : decodePiece(string);
      const text = parseCounted(written);
      if (typeof text !== 'string') return undefined;
      texts.push(text);
      found.add(text, { ...place, text_bytes: bytesOf(text, written, string) });
      turn_bytes += string.length;
      if (turn_bytes < TURN_BYTES) continue;
      turn_bytes = 0;
      await longWorkTurns.next();
    }
    return { value: new Marks(mark, texts).fill(value), texts: new SourceTexts(bytes, found) };
  }

  /** The bytes of a text in UTF-8. They are known of a long string. */
  bytesOf(text: string): number {
    return this.#placeOf(text)?.text_bytes ?? Buffer.byteLength(text);
  }

  #placeOf(text: string): TextPlace | undefined {
    return text.length < LONG ? undefined : this.#places?.of(text);
  }

  /** Frees the bytes. From then on, every string is written anew. */
  release(): void {
    this.#bytes = undefined;
    this.#places = undefined;
  }

  /** The JSON of a value, which parses to what `JSON.stringify` would have written. */
  write(value: unknown): string | Buffer {
    const places = this.#places;
    const bytes = this.#bytes;
    if (!places || !bytes) return JSON.stringify(value);
    const gaps = new Gaps(places);
    const lean = gaps.fill(value);
    const text = JSON.stringify(lean);
    return gaps.found.length === 0 ? text : joined(text, gaps, bytes);
  }
}

/**
 * The bytes of a parsed string in UTF-8. Each escape but `\u` is two characters for one, of a byte
 * each, so that the difference of the lengths tells what escapes and quotes take.
 */
function bytesOf(text: string, written: string, string: Buffer): number {
  if (string.includes('\\u')) return Buffer.byteLength(text);
  return string.length - (written.length - text.length);
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

/** The text with a short string, the mark and the number of the place, for each long string. */
function markedBytes(bytes: Buffer, long: readonly Place[], mark: string): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const [index, { from, to }] of long.entries()) {
    pieces.push(bytes.subarray(at, from), Buffer.from(`"${mark}${index}"`));
    at = to;
  }
  return Buffer.concat([...pieces, bytes.subarray(at)]);
}

/** Puts the long strings of a parsed value into their places. */
class Marks {
  constructor(
    private readonly mark: string,
    private readonly texts: readonly string[],
  ) {}

  /** The value, which is changed in place unless it is a string. */
  fill(value: unknown): unknown {
    if (typeof value === 'string') return this.#textFor(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) this.#fillList(value);
    else this.#fillFields(value as Record<string, unknown>);
    return value;
  }

  #fillList(list: unknown[]): void {
    for (let at = 0; at < list.length; at += 1) {
      const one = list[at];
      const filled = this.fill(one);
      if (filled !== one) list[at] = filled;
    }
  }

  #fillFields(fields: Record<string, unknown>): void {
    for (const name of Object.keys(fields)) {
      const one = fields[name];
      const filled = this.fill(one);
      // Of a name such as `__proto__` the object has a field of its own, which is set.
      if (filled !== one) fields[name] = filled;
    }
  }

  /** No string of a client can begin with the mark, which is as long as a random UUID. */
  #textFor(text: string): string {
    if (text.length <= this.mark.length || !text.startsWith(this.mark)) return text;
    return this.texts[Number(text.slice(this.mark.length))] ?? text;
  }
}

/** Further texts that look alike are written anew: all of them are compared with each other. */
const MOST_ALIKE = 8;
/** So many characters of a text tell it from others. */
const SAMPLES = 64;

/** The places of texts, found by some of their characters: to hash all takes as long as parsing. */
class Places {
  readonly #alike = new Map<number, { text: string; place: TextPlace }[]>();

  add(text: string, place: TextPlace): void {
    if (text.length < LONG) return;
    const sample = sampleOf(text);
    const known = this.#alike.get(sample);
    if (!known) this.#alike.set(sample, [{ text, place }]);
    else if (known.length < MOST_ALIKE) known.push({ text, place });
  }

  of(text: string): TextPlace | undefined {
    return this.#alike.get(sampleOf(text))?.find((one) => one.text === text)?.place;
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

/** Leaves gaps for known strings in a copy of a value. */
class Gaps {
  readonly found: Place[] = [];
  /** Begins the text of each gap. No string of a client can contain it. */
  readonly mark = randomUUID();

  constructor(private readonly places: Places) {}

  /** The value itself, if it has no known string. */
  fill(value: unknown): unknown {
    if (typeof value === 'string') return this.#gapFor(value) ?? value;
    if (typeof value !== 'object' || value === null) return value;
    return Array.isArray(value) ? this.#fillList(value) : this.#fillFields(value);
  }

  #fillList(list: readonly unknown[]): readonly unknown[] {
    let copy: unknown[] | undefined;
    for (let at = 0; at < list.length; at += 1) {
      const one = list[at];
      const filled = this.fill(one);
      if (filled === one) continue;
      copy ??= [...list];
      copy[at] = filled;
    }
    return copy ?? list;
  }

  #fillFields(fields: object): object {
    let copy: Record<string, unknown> | undefined;
    for (const name of Object.keys(fields)) {
      const one = (fields as Record<string, unknown>)[name];
      const filled = this.fill(one);
      if (filled === one) continue;
      copy ??= { ...fields };
      copy[name] = filled;
    }
    return copy ?? fields;
  }

  #gapFor(text: string): string | undefined {
    const place = text.length < LONG ? undefined : this.places.of(text);
    if (!place) return undefined;
    this.found.push(place);
    return this.mark;
  }
}

/** Writes the text, with the bytes of the source in its gaps. */
function joined(text: string, { found, mark }: Gaps, bytes: Buffer): Buffer {
  const gap = `"${mark}"`;
  const pieces = text.split(gap);
  const source_bytes = found.reduce((sum, { from, to }) => sum + to - from, 0);
  const piece_bytes = Buffer.byteLength(text) - found.length * gap.length;
  const whole = Buffer.allocUnsafe(source_bytes + piece_bytes);
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    at += whole.write(piece, at);
    const place = found[index];
    if (place) at += bytes.copy(whole, at, place.from, place.to);
  }
  return whole;
}
