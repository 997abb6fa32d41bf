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

/**
 * Words and phrases, found as whole words, whatever their case, their width and what stands between
 * them. Those of scripts without spaces are found anywhere. The time is linear in the text.
 */
export class WordList {
  readonly #root: Branch = branch();
  readonly #anywhere: string[] = [];

  constructor(words: readonly string[]) {
    for (const word of words.map(folded)) {
      if (UNSPACED.test(word)) this.#anywhere.push(word);
      else this.#add(word);
    }
  }

  isIn(text: string): boolean {
    const plain = folded(text);
    return this.#anywhere.some((word) => plain.includes(word)) || this.#isPhraseIn(plain);
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

  #isPhraseIn(text: string): boolean {
    if (this.#root.next.size === 0) return false;
    let begun: Branch[] = [];
    for (const [word] of text.matchAll(WORD)) {
      if (begun.length === 0 && !this.#root.next.has(word)) continue;
      begun = [this.#root, ...begun].flatMap(({ next }) => next.get(word) ?? []);
      if (begun.some(({ isEnd }) => isEnd)) return true;
    }
    return false;
  }
}

function branch(): Branch {
  return { next: new Map(), isEnd: false };
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll(UNSEEN, '');
}
