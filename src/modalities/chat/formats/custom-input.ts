import { parseJson } from '../../../lib/json-text.js';

/** The parameters of the function that stands for a custom tool at the upstream. */
export const CUSTOM_PARAMETERS = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool.' } },
  required: ['input'],
  additionalProperties: false,
};

/** The beginning of arguments whose first or only field is `input`. */
const HEAD = /^\s{0,20}\{\s{0,20}"input"\s{0,20}:\s{0,20}"/u;
/** The most characters of that beginning. */
const HEAD_CHARACTERS = 90;
/** The first escape of a surrogate pair, which cannot be decoded without the second. */
const HALF = /^\\u[dD][89abAB][0-9a-fA-F]{2}$/u;
/** The length of an escape such as \u00e9. */
const UNICODE_CHARACTERS = 6;

/**
 * Extracts the input of a custom tool, piece by piece, from the arguments of the function that
 * stands for the tool at the upstream.
 */
export class CustomInput {
  #sent = '';
  /** Arguments that have not been decoded yet. */
  #waiting = '';
  #state: 'before' | 'within' | 'behind' = 'before';

  /** Adds a piece of arguments, and returns the input that it adds. */
  add(args: string): string {
    if (this.#state === 'behind') return '';
    this.#waiting += args;
    if (this.#state === 'before') {
      const head = HEAD.exec(this.#waiting);
      if (!head && this.#waiting.length > HEAD_CHARACTERS) this.#state = 'behind';
      if (!head) return '';
      this.#waiting = this.#waiting.slice(head[0].length);
      this.#state = 'within';
    }
    return this.#state === 'within' ? this.#read() : '';
  }

  /** The end of the whole input that `add` has not returned. */
  rest(input: string): string {
    return input.startsWith(this.#sent) ? input.slice(this.#sent.length) : '';
  }

  #read(): string {
    const text = this.#escaped();
    this.#waiting = this.#waiting.slice(text.length);
    const decoded = parseJson(`"${text}"`);
    if (typeof decoded === 'string') {
      this.#sent += decoded;
      return decoded;
    }
    // The arguments are not JSON: the input is known only when they are complete.
    this.#state = 'behind';
    return '';
  }

  /** The characters and whole escapes up to the quote that ends the input. */
  #escaped(): string {
    const waiting = this.#waiting;
    let [at, last] = [0, 0];
    while (at < waiting.length && waiting[at] !== '"') {
      const escape = waiting[at + 1] === 'u' ? UNICODE_CHARACTERS : 2;
      const length = waiting[at] === '\\' ? escape : 1;
      if (at + length > waiting.length) break;
      last = at;
      at += length;
    }
    if (waiting[at] === '"') this.#state = 'behind';
    const isHalf = this.#state === 'within' && HALF.test(waiting.slice(last, at));
    return waiting.slice(0, isHalf ? last : at);
  }
}
