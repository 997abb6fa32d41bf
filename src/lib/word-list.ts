import { atOnce, type Steps } from './text-search.js';

/** A node of the tree of phrases: the words that may follow a word. */
interface Branch {
  readonly next: Map<string, Branch>;
  isEnd: boolean;
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Characters without a shape, such as the soft hyphen. */
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/gu;
/** Scripts without spaces between words, or with endings on words. */
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;

/** The characters that one step searches. */
const STEP = 16_384;
/** A step ends between two words, at most this many characters before its full length. */
const MAX_WORD_CHARACTERS = 1_024;
const BETWEEN_WORDS = /[\s!-/:-@[-`{-~]/u;

/**
 * Searches texts for words and phrases. It finds whole words, and ignores case, width and the
 * characters between words. Words of scripts without spaces are found anywhere. The time is linear
 * in the text.
 */
export class WordList {
  readonly #root: Branch = branch();
  readonly #anywhere: string[] = [];
  /** The length of the longest word in `#anywhere`. */
  readonly #max_length: number;

  constructor(words: readonly string[]) {
    for (const word of words.map(folded)) {
      if (UNSPACED.test(word)) this.#anywhere.push(word);
      else this.#add(word);
    }
    this.#max_length = Math.max(1, ...this.#anywhere.map(({ length }) => length));
  }

  isIn(text: string): boolean {
    return atOnce(this.search(text));
  }

  /** Does the work of `isIn` in steps. */
  *search(text: string): Steps<boolean> {
    let begun: Branch[] = [];
    let before = '';
    for (let at = 0, end = 0; at < text.length; at = end) {
      end = endOfStep(text, at);
      const plain = folded(text.slice(at, end));
      const near = before + plain;
      if (this.#anywhere.some((word) => near.includes(word))) return true;
      before = near.slice(1 - this.#max_length || near.length);
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

  /** The nodes of phrases that are begun at the end of the text, or that end first within it. */
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
  for (let cut = end; cut > end - MAX_WORD_CHARACTERS; cut -= 1) {
    if (BETWEEN_WORDS.test(text.charAt(cut))) return cut;
  }
  return end;
}

function branch(): Branch {
  return { next: new Map(), isEnd: false };
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll(INVISIBLE, '');
}
