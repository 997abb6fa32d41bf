import { JsonTexts, parseJson } from '../lib/json-text.js';
import { isRecord } from '../lib/objects.js';
import { GatewayError } from '../core/errors.js';
import { isMediaUrl } from '../lib/media-url.js';
import { NESTING, tooDeep } from './nesting.js';

/**
 * Reads a text of a request and returns its replacement; undefined leaves it unchanged. `field` is
 * its path as clients write it: `messages[2].content[0].text`.
 */
export type Visit = (text: string, field: string) => string | undefined;

/**
 * Locates the texts of a body. A field that `TextFields` does not name is `open`, so a new field
 * counts as text until its shape says otherwise. A list has the shape of its entries. A string in
 * place of an object is a text.
 *
 * - `open`: all strings below are texts, except words such as `type` and addresses of files.
 * - `data`: a value of the client's own, such as the arguments of a call: its keys and long
 *   integers are texts too.
 * - `json`: the same, as a string of JSON.
 * - `sealed`: texts that are visited but never replaced, such as signed reasoning.
 * - `kept`: not visited: an ID, a name that a program knows, a constant, bytes, an address.
 */
export type TextShape = 'open' | 'data' | 'json' | 'sealed' | 'kept' | TextFields | ShapeOf;

/** The shapes of an object's fields, by name. */
export interface TextFields {
  readonly [field: string]: TextShape;
}

/** The shape of an object that depends on its content, such as a block on its type. */
export type ShapeOf = (value: Readonly<Record<string, unknown>>) => TextShape;

/**
 * Calls `visit` with every text of a request and replaces texts in place. Throws `GatewayError` if
 * the body is nested too deep.
 */
export type EachText = (
  request: { readonly format: string; readonly body: object },
  visit: Visit,
) => void;

/** Fields with constants of contracts and of JSON Schema, at any depth. */
const WORDS = new Set([
  'type',
  'role',
  'format',
  'pattern',
  'required',
  '$ref',
  '$schema',
  '$id',
  '$anchor',
]);
/** Names of fields that may hold the address of a file. */
const ADDRESS_FIELD = /(?:url|uri|image|images|mask|audio|video|file)$/iu;
const ADDRESS = /^(?:https?|gs|s3|data):\S*$/iu;
/** The smallest number that can be the number of a card or a telephone. */
const LONG_NUMBER = 100_000_000_000;
const LONG_NUMBER_TEXT = /(?<![\d.eE+-])\d{12,19}(?![\d.eE])/gu;

/**
 * Calls `visit` with the texts of a body of this shape, and replaces them in place. Throws
 * `GatewayError` if the body is nested too deep.
 */
export function walkTexts(body: object, shape: TextShape, visit: Visit): void {
  new TextWalk(visit).read(body, shape, '', 0);
}

class TextWalk {
  readonly #texts = new JsonTexts();

  constructor(private readonly visit: Visit) {}

  /** Returns the replacement of a value; objects and lists are changed in place. */
  read(value: unknown, shape: TextShape, field: string, level: number): unknown {
    if (shape === 'kept') return value;
    if (typeof value === 'string') {
      if (shape === 'json') return this.#json(value, field);
      const replaced = this.#text(value, field);
      return shape === 'sealed' ? value : replaced;
    }
    if (typeof value === 'number') return shape === 'data' ? this.#number(value, field) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (level >= NESTING) throw tooDeep(topOf(field));
    if (Array.isArray(value)) this.#list(value, shape, field, level + 1);
    else if (isRecord(value)) this.#record(value, shape, field, level + 1);
    return value;
  }

  #list(list: unknown[], shape: TextShape, field: string, level: number): void {
    list.forEach((item, at) => {
      // The tokens of an embedding are many and no texts.
      if (typeof item === 'number' && shape !== 'data') return;
      const read = this.read(item, shape, `${field}[${at}]`, level);
      if (read !== item) list[at] = read;
    });
  }

  #record(record: Record<string, unknown>, shape: TextShape, field: string, level: number): void {
    const own = typeof shape === 'function' ? shape(record) : shape;
    if (own === 'kept') return;
    if (own === 'data' || own === 'json') {
      this.#data(record, field, level);
      return;
    }
    for (const [name, value] of Object.entries(record)) {
      const named = typeof own === 'object' && Object.hasOwn(own, name) ? own[name] : undefined;
      const inner = named ?? (own === 'sealed' ? own : openShape(name, value));
      if (inner === 'kept') continue;
      const read = this.read(value, inner, field === '' ? name : `${field}.${name}`, level);
      if (read !== value) record[name] = read;
    }
  }

  #data(record: Record<string, unknown>, field: string, level: number): void {
    const entries = Object.entries(record).map(([name, value]) => {
      const read = this.read(value, 'data', `${field}.${name}`, level);
      return [name, this.#text(name, field), read, read !== value] as const;
    });
    const isRenamed = entries.some(([name, replaced]) => replaced !== name);
    for (const [name, , read, hasChanged] of entries) {
      if (isRenamed) delete record[name];
      else if (hasChanged) record[name] = read;
    }
    if (!isRenamed) return;
    for (const [, replaced, value] of entries) {
      // A name such as __proto__ would not become a field by assignment.
      const field = { value, writable: true, enumerable: true, configurable: true };
      Object.defineProperty(record, unused(replaced, record), field);
    }
  }

  #text(text: string, field: string): string {
    if (text === '' || isMediaUrl(text)) return text;
    return this.visit(text, field) ?? text;
  }

  #number(value: number, field: string): unknown {
    if (value < LONG_NUMBER || !Number.isInteger(value)) return value;
    const text = String(value);
    const replaced = this.#text(text, field);
    return replaced === text ? value : replaced;
  }

  /** Rewrites only the strings that changed, so that numbers keep all their digits. */
  #json(json: string, field: string): string {
    if (this.#texts.parse(json) === undefined) {
      // Escapes could hide a word in it from the visitor.
      if (this.#texts.isOver) throw unsearchable(topOf(field));
      return this.#text(json, field);
    }
    let written = '';
    let from = 0;
    for (let at = json.indexOf('"'); at >= 0; at = json.indexOf('"', from)) {
      const end = endOfString(json, at);
      const literal = json.slice(at, end);
      const text = String(parseJson(literal));
      const replaced = this.#text(text, field);
      written += this.#numbers(json.slice(from, at), field);
      written += replaced === text ? literal : JSON.stringify(replaced);
      from = end;
    }
    return written + this.#numbers(json.slice(from), field);
  }

  #numbers(json: string, field: string): string {
    return json.replaceAll(LONG_NUMBER_TEXT, (text) => {
      const replaced = this.#text(text, field);
      return replaced === text ? text : JSON.stringify(replaced);
    });
  }
}

/** The shape of a field that its parent's shape does not name. */
function openShape(name: string, value: unknown): TextShape {
  if (WORDS.has(name) && isWords(value)) return 'kept';
  const isAddress = ADDRESS_FIELD.test(name) && [value].flat().every(isFileAddress);
  return isAddress ? 'kept' : 'open';
}

function isWords(value: unknown): boolean {
  return [value].flat().every((one) => typeof one === 'string');
}

function isFileAddress(value: unknown): boolean {
  return typeof value === 'string' && ADDRESS.test(value);
}

/** The index after the closing quote of the JSON string that begins at `start`. */
function endOfString(json: string, start: number): number {
  for (let quote = json.indexOf('"', start + 1); ; quote = json.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (json[quote - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

/**
 * A name that the record does not have. Two keys may get the same replacement: the later one gets a
 * number, so that no value is lost.
 */
function unused(name: string, record: object): string {
  let free = name;
  for (let n = 2; Object.hasOwn(record, free); n += 1) free = `${name} ${n}`;
  return free;
}

function unsearchable(param: string): GatewayError {
  const message = `${param} has a JSON text that is too large or nested too deep to be searched.`;
  return new GatewayError('invalid_request', message, { param });
}

/** The first name of a path: the whole path of a deep field would be as long as it is deep. */
function topOf(field: string): string {
  return field.split(/[.[]/u, 1)[0] ?? '';
}
