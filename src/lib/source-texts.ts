import { randomUUID } from 'node:crypto';
import type { StringTaker } from './json-text.js';

/** Shorter strings are written anew: finding them again costs more. */
const LONG = 256;

/** The bytes of a string in a JSON text, with its quotes. */
interface Place {
  from: number;
  to: number;
}

interface LongPlace extends Place {
  /** How many strings stand before it. */
  ordinal: number;
}

/** Notes where the long strings of a JSON text stand, while its values are counted. */
export class LongStrings implements StringTaker {
  readonly long: LongPlace[] = [];
  count = 0;

  add(from: number, to: number): void {
    if (to - from >= LONG) this.long.push({ ordinal: this.count, from, to });
    this.count += 1;
  }
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
   * `bytes` is valid UTF-8 that was parsed to `value`. Undefined if there is nothing to gain, or
   * where the strings of the value do not stand in the order of the text: a name that is repeated,
   * or one that is a number.
   */
  static of(bytes: Buffer, value: unknown, strings: LongStrings): SourceTexts | undefined {
    if (strings.long.length === 0) return undefined;
    const places = new Places();
    const matcher = new Matcher(strings.long, places);
    if (!matcher.visit(value) || matcher.count !== strings.count) return undefined;
    return new SourceTexts(bytes, places);
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

/** Further texts that look alike are written anew: all of them are compared with each other. */
const MOST_ALIKE = 8;
/** So many characters of a text tell it from others. */
const SAMPLES = 16;

/** The places of texts, found by some of their characters: to hash all takes as long as parsing. */
class Places {
  readonly #alike = new Map<number, { text: string; place: Place }[]>();

  add(text: string, place: Place): void {
    if (text.length < LONG) return;
    const sample = sampleOf(text);
    const known = this.#alike.get(sample);
    if (!known) this.#alike.set(sample, [{ text, place }]);
    else if (known.length < MOST_ALIKE) known.push({ text, place });
  }

  of(text: string): Place | undefined {
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

/** Walks a parsed value in the order of its text. */
class Matcher {
  count = 0;
  #next = 0;

  constructor(
    private readonly long: readonly LongPlace[],
    private readonly places: Places,
  ) {}

  /** Whether the order can be relied on. */
  visit(value: unknown): boolean {
    if (typeof value === 'string') {
      const place = this.#nextPlace();
      if (place) this.places.add(value, place);
      return true;
    }
    if (typeof value !== 'object' || value === null) return true;
    if (Array.isArray(value)) return value.every((one: unknown) => this.visit(one));
    return this.#visitFields(value as Record<string, unknown>);
  }

  #visitFields(fields: Record<string, unknown>): boolean {
    for (const name of Object.keys(fields)) {
      const first = name.charCodeAt(0);
      if (first >= ZERO && first <= NINE) return false;
      this.#nextPlace();
      if (!this.visit(fields[name])) return false;
    }
    return true;
  }

  /** The place of the next string, if it is a long one. */
  #nextPlace(): LongPlace | undefined {
    const place = this.long[this.#next];
    const isHere = place?.ordinal === this.count;
    this.count += 1;
    if (isHere) this.#next += 1;
    return isHere ? place : undefined;
  }
}

const ZERO = 0x30;
const NINE = 0x39;

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
      // An assignment to `__proto__` would not make a field.
      Object.defineProperty(copy, name, { ...FIELD, value: filled });
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

const FIELD = { writable: true, enumerable: true, configurable: true };

/** Writes the text, with the bytes of the source in its gaps. */
function joined(text: string, { found, mark }: Gaps, bytes: Buffer): Buffer {
  const pieces = text.split(`"${mark}"`);
  const source_bytes = found.reduce((sum, { from, to }) => sum + to - from, 0);
  const piece_bytes = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  const whole = Buffer.allocUnsafe(source_bytes + piece_bytes);
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    at += whole.write(piece, at);
    const place = found[index];
    if (place) at += bytes.copy(whole, at, place.from, place.to);
  }
  return whole;
}
