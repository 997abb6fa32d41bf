import { pointer as join, type Mark, type Source } from './source.js';

/** A place for a value: the block or the list that holds it, and its name or its index there. */
interface Slot {
  holder: object;
  name: string | number;
  pointer: string;
  /** The offset of its key. */
  key: number;
}

interface PlainFile {
  value: Record<string, unknown>;
  /** The texts with `${`, which are in the value as they are written. */
  references: { slot: Slot; written: string; mark: Mark }[];
  /** The number of all blocks, lists and scalars. */
  count: number;
}

/** Thrown where a text leaves the plain form, and caught before anybody sees it. */
const OTHER_FORM = new Error('not the plain form');

// Each of these is sticky: it matches at `lastIndex` or not at all.
/** The lines that are empty or hold only a comment, and the spaces before the next text. */
const TO_TEXT = /(?: *(?:#.*)?\r?\n)* *(?:#.*$)?/y;
const LINE_END = /(?: +#.*| *)(?:\r?\n|$)/y;
const QUOTED = /'[^'\n\r\t]*'|"[^"\\\n\r\t]*"/y;
const KEY = /[A-Za-z0-9_][\w./@-]*(?:[ :][\w./@-]+)*/y;
/** Text that YAML takes for nothing else: without `: `, ` #`, or a first character of its own. */
const BLOCK_TEXT = /(?:[\w./$~]|-(?=[\w.]))(?:[!-"$-9;-~]|:(?=[!-~])|(?<! )#| +(?=[!-"$-~]))*/y;
const FLOW_TEXT = /(?:[\w./$~]|-(?=[\w.]))(?:[\w./$~@*+%=-]|:(?=[\w./])| +(?=[\w./]))*/y;
const COLON = /: +(?=[^ #\r\n])/y;
const COLON_AT_END = /:(?= *(?: #.*)?(?:\r?\n|$))/y;
/** Between braces a line may end anywhere. */
const GAP = /(?: *\r?\n)* */y;
const DASH = /- +(?=[^ #\r\n])/y;

const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
  ...['null', 'Null', 'NULL', '~'].map((word) => [word, null] as const),
]);
const NUMBER = /^-?\d+(?:\.\d+)?$/;
/** A number in a form of its own, or a text that is nearly one. */
const ODD_NUMBER = /^(?:[-+]?\.[\da-z]|\+|0[xo]|[-+]?[\d.]+(?:e|$))/i;

/** YAML has a limit for keys without a mark of their own. */
const MAX_KEY_CHARACTERS = 1_000;

/** Deeper than any file goes, and well within the stack. */
const MAX_DEPTH = 30;

/**
 * Reads a file in the plain form that nearly every file has: blocks indented by spaces, lists,
 * braces, and texts and comments that end on the line on which they begin. Notes the place of each
 * value in `source`. Undefined for any other text, also for each one with a fault: the parser of
 * the package `yaml` reads these. It reads the plain form to the same values and places, but needs
 * several times as long. `source` is of no use then.
 */
export function readPlain(source: Source, text: string): PlainFile | undefined {
  // Bytes that are not UTF-8 are a fault.
  if (text.includes('\uFFFD')) return undefined;
  try {
    return new PlainReader(source, text).read();
  } catch (error) {
    if (error === OTHER_FORM) return undefined;
    throw error;
  }
}

class PlainReader {
  readonly #source: Source;
  readonly #text: string;
  readonly #references: PlainFile['references'] = [];
  #count = 0;
  #at = 0;
  /** The spaces before the text at `#at`, where a line begins; -1 at the end of the file. */
  #indent = 0;
  #depth = 0;
  /** Lines between braces have at least this many spaces. */
  #margin = 0;

  constructor(source: Source, text: string) {
    this.#source = source;
    this.#text = text;
  }

  read(): PlainFile {
    this.#toText();
    if (this.#indent !== 0) fail();
    this.#note('', this.#at, this.#at);
    const value = this.#block(0, '');
    // A line that is indented less than its block, or text behind a list.
    if (this.#indent >= 0) fail();
    return { value, references: this.#references, count: this.#count };
  }

  #toText(): void {
    this.#passes(TO_TEXT);
    const isEnd = this.#at === this.#text.length;
    this.#indent = isEnd ? -1 : this.#at - this.#text.lastIndexOf('\n', this.#at - 1) - 1;
  }

  /** Passes the text that an expression finds here; false if it finds none. */
  #passes(form: RegExp): boolean {
    form.lastIndex = this.#at;
    if (!form.test(this.#text)) return false;
    this.#at = form.lastIndex;
    return true;
  }

  /** Passes the text that an expression finds here, and returns it; empty if it finds none. */
  #take(form: RegExp): string {
    const start = this.#at;
    return this.#passes(form) ? this.#text.slice(start, this.#at) : '';
  }

  #expect(form: RegExp): string {
    return this.#take(form) || fail();
  }

  #next(): string | undefined {
    return this.#text[this.#at];
  }

  #note(pointer: string, key: number, value: number, written?: string): Mark {
    const from = this.#source;
    const mark: Mark = { key, value, written, text: written, expanded: false, from };
    from.note(pointer, mark);
    this.#count += 1;
    return mark;
  }

  /** The keys that begin in one column, the first of them here. */
  #block(indent: number, pointer: string): Record<string, unknown> {
    this.#enter();
    const block: Record<string, unknown> = {};
    do {
      const slot = this.#slot(block, pointer);
      if (this.#passes(COLON)) this.#onLine(slot, indent + 1);
      else this.#below(indent, slot);
    } while (this.#indent === indent && this.#next() !== '-');
    this.#leave(indent);
    return block;
  }

  #slot(holder: Record<string, unknown>, pointer: string): Slot {
    const key = this.#at;
    const quoted = this.#take(QUOTED);
    const name = quoted === '' ? this.#expect(KEY) : quoted.slice(1, -1);
    const isOdd = name === '__proto__' || name.length > MAX_KEY_CHARACTERS;
    if (isOdd || Object.hasOwn(holder, name)) fail();
    return { holder, name, pointer: pointer + join(name), key };
  }

  /** The value on the lines below a key. */
  #below(indent: number, slot: Slot): void {
    if (!this.#passes(COLON_AT_END)) fail();
    if (!this.#passes(LINE_END)) fail();
    this.#toText();
    const next = this.#next();
    const isList = next === '-';
    if (this.#indent < indent || (this.#indent === indent && !isList)) fail();
    if (next === '{' || next === '[') {
      this.#onLine(slot, indent + 1);
      return;
    }
    this.#note(slot.pointer, slot.key, this.#at);
    const place = [this.#indent, slot.pointer] as const;
    this.#set(slot, isList ? this.#list(...place) : this.#block(...place));
  }

  #list(indent: number, pointer: string): unknown[] {
    this.#enter();
    const list: unknown[] = [];
    do {
      const inner = indent + this.#expect(DASH).length;
      const slot = this.#item(list, pointer);
      if (this.#isKey()) {
        this.#note(slot.pointer, slot.key, this.#at);
        list.push(this.#block(inner, slot.pointer));
      } else this.#onLine(slot, inner);
    } while (this.#indent === indent && this.#next() === '-');
    this.#leave(indent);
    return list;
  }

  #item(list: unknown[], pointer: string): Slot {
    return { holder: list, name: list.length, pointer: `${pointer}/${list.length}`, key: this.#at };
  }

  #isKey(): boolean {
    const start = this.#at;
    const hasName = this.#passes(QUOTED) || this.#passes(KEY);
    const isKey = hasName && (this.#passes(COLON) || this.#passes(COLON_AT_END));
    this.#at = start;
    return isKey;
  }

  /** A value up to the end of its line. Within its braces, lines are indented by `margin`. */
  #onLine(slot: Slot, margin: number): void {
    this.#margin = margin;
    this.#inline(slot, BLOCK_TEXT);
    if (!this.#passes(LINE_END)) fail();
    this.#toText();
  }

  #inline(slot: Slot, form: RegExp): void {
    const next = this.#next();
    if (next === '{' || next === '[') {
      this.#note(slot.pointer, slot.key, this.#at);
      this.#enter();
      this.#at += 1;
      this.#gap();
      this.#set(slot, next === '{' ? this.#braces(slot.pointer) : this.#brackets(slot.pointer));
      this.#depth -= 1;
      return;
    }
    const start = this.#at;
    const quoted = this.#take(QUOTED);
    const written = quoted === '' ? this.#expect(form) : quoted.slice(1, -1);
    const data = quoted === '' ? dataOf(written) : written;
    const mark = this.#note(slot.pointer, slot.key, start, written);
    if (written.includes('${')) this.#references.push({ slot, written, mark });
    this.#set(slot, data);
  }

  #braces(pointer: string): Record<string, unknown> {
    const block: Record<string, unknown> = {};
    while (this.#next() !== '}') {
      this.#pair(block, pointer);
      this.#comma('}');
    }
    this.#at += 1;
    return block;
  }

  #brackets(pointer: string): unknown[] {
    const list: unknown[] = [];
    while (this.#next() !== ']') {
      const slot = this.#item(list, pointer);
      if (this.#isKey()) {
        this.#note(slot.pointer, slot.key, this.#at);
        list.push(this.#pair({}, slot.pointer));
      } else this.#inline(slot, FLOW_TEXT);
      this.#comma(']');
    }
    this.#at += 1;
    return list;
  }

  /** A key between braces with its value; or alone in a list, `[auth, route: task]`. */
  #pair(block: Record<string, unknown>, pointer: string): Record<string, unknown> {
    const slot = this.#slot(block, pointer);
    if (!this.#passes(COLON)) fail();
    this.#inline(slot, FLOW_TEXT);
    return block;
  }

  #comma(end: string): void {
    this.#gap();
    if (this.#next() === ',') {
      this.#at += 1;
      this.#gap();
    } else if (this.#next() !== end) fail();
  }

  #gap(): void {
    const start = this.#at;
    this.#passes(GAP);
    const line_end = this.#at > start ? this.#text.lastIndexOf('\n', this.#at - 1) : -1;
    if (line_end >= start && this.#at - line_end - 1 < this.#margin) fail();
  }

  #set({ holder, name }: Slot, value: unknown): void {
    Reflect.set(holder, name, value);
  }

  #enter(): void {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) fail();
  }

  /** A line that is deeper than the block above goes on with its last value, which is rare. */
  #leave(indent: number): void {
    this.#depth -= 1;
    if (this.#indent > indent) fail();
  }
}

function dataOf(written: string): string | number | boolean | null {
  const word = WORDS.get(written);
  if (word !== undefined) return word;
  if (NUMBER.test(written)) return Number(written);
  return ODD_NUMBER.test(written) ? fail() : written;
}

function fail(): never {
  throw OTHER_FORM;
}
