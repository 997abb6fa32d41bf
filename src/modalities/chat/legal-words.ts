import { hash } from 'node:crypto';
import type { WordRule } from './codec.js';

const HASH_CHARACTERS = 8;

/** Whether a wire takes a word as it is. None takes an empty one. */
function isLegal(word: string, { illegal, first, max, is_exact }: WordRule): boolean {
  if (word === '' || word.length > max || (is_exact && word.length < max)) return false;
  const isSpelt = illegal === undefined || word.search(illegal) < 0;
  return isSpelt && (first === undefined || first.test(word));
}

/** A legal word in place of another one, always the same; `attempt` leads to further ones. */
export function legalWord(word: string, rule: WordRule, attempt = 0): string {
  if (attempt === 0 && isLegal(word, rule)) return word;
  const digest = hash('sha256', attempt === 0 ? word : `${word} ${attempt}`);
  if (rule.is_exact) return digest.slice(0, rule.max);
  const beginning = rule.first === undefined || rule.first.test(word) ? '' : '_';
  const readable = rule.illegal ? word.slice(0, rule.max).replaceAll(rule.illegal, '_') : word;
  const kept = (beginning + readable).slice(0, rule.max - HASH_CHARACTERS - 1);
  return `${kept}_${digest.slice(0, HASH_CHARACTERS)}`;
}

/** The words of one request, and those in their places at a wire: no two of them are the same. */
export class LegalWords {
  readonly #legal = new Map<string, string>();
  readonly #own = new Map<string, string>();

  constructor(words: Iterable<string>, rule: WordRule) {
    const all = new Set(words);
    for (const word of all) {
      if (isLegal(word, rule)) continue;
      let made = legalWord(word, rule);
      for (let attempt = 1; all.has(made) || this.#own.has(made); attempt += 1) {
        made = legalWord(word, rule, attempt);
      }
      this.#legal.set(word, made);
      this.#own.set(made, word);
    }
  }

  /** Whether any word has to be replaced. */
  get has_changes(): boolean {
    return this.#legal.size > 0;
  }

  /** The word for the wire. */
  legal(word: string): string {
    return this.#legal.get(word) ?? word;
  }

  /** The client's own word. */
  own(word: string): string {
    return this.#own.get(word) ?? word;
  }
}
