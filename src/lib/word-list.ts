import { atOnce, type Steps } from './text-search.js';

/** A word of a phrase, and those that may follow it. */
interface Branch {
  readonly next: Map<string, Branch>;
  isEnd: boolean;
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Characters that nobody sees. */
const UNSEEN = /[\u00ad\u200b-\u200d\u2060\ufeff]/gu;
/** Scripts that put no spaces between words, or endings on them. */
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;

/** Characters that are searched in one step. */
const STEP = 16_384;
/** A text is cut between two words, but not so far before a step has its length. */
const LONGEST_WORD = 1_024;
const BETWEEN_WORDS = /[\s!-/:-@[-`{-~]/u;

/**
 * Words and phrases, found as whole words, whatever their case, their width and what stands between
 * them. Those of scripts without spaces are found anywhere. The time is linear in the text.
 */
export class WordList {
  readonly #root: Branch = branch();
  readonly #anywhere: string[] = [];
  /** Characters of the longest of those. */
  readonly #most: number;

  constructor(words: readonly string[]) {
    for (const word of words.map(folded)) {
      if (UNSPACED.test(word)) this.#anywhere.push(word);
      else this.#add(word);
    }
    this.#most = Math.max(1, ...this.#anywhere.map(({ length }) => length));
  }

  isIn(text: string): boolean {
    return atOnce(this.search(text));
  }

  /** The same in steps. */
  *search(text: string): Steps<boolean> {
    let begun: Branch[] = [];
    let before = '';
    for (let at = 0, end = 0; at < text.length; at = end) {
      end = endOfStep(text, at);
      const plain = folded(text.slice(at, end));
      const near = before + plain;
      if (this.#anywhere.some((word) => near.includes(word))) return true;
      before = near.slice(1 - this.#most || near.length);
      begun = this.#follow(begun, plain);
      if (begun.some(({ isEnd }) => isEnd)) return true;
      yield;
    }
    return false;
  }

  #add(phrase: string): void {
    let at = this.#root;
    for (const [word] of phrase.matchAll(WORD)) {
      const next = at.next.get(word) ?? branch();
      at.next.set(word, next);
      at = next;
    }
    if (at !== this.#root) at.isEnd = true;
  }

  /** The phrases that have begun by the end of this text, or the ones that end first in it. */
  #follow(before: Branch[], text: string): Branch[] {
    let begun = before;
    if (this.#root.next.size === 0) return begun;
    for (const [word] of text.matchAll(WORD)) {
      if (begun.length === 0 && !this.#root.next.has(word)) continue;
      begun = [this.#root, ...begun].flatMap(({ next }) => next.get(word) ?? []);
      if (begun.some(({ isEnd }) => isEnd)) return begun;
    }
    return begun;
  }
}

function endOfStep(text: string, at: number): number {
  const end = at + STEP;
  if (end >= text.length) return text.length;
  for (let cut = end; cut > end - LONGEST_WORD; cut -= 1) {
    if (BETWEEN_WORDS.test(text.charAt(cut))) return cut;
  }
  return end;
}

function branch(): Branch {
  return { next: new Map(), isEnd: false };
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll(UNSEEN, '');
}
