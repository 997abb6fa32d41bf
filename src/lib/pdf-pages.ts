import { inflateSync } from 'node:zlib';

/** The pages of a file that does not tell their number: most providers accept no more. */
export const UNKNOWN_PAGES = 100;

/** A name in a PDF, in which any character may be written as `#` and two hexadecimal digits. */
function nameOf(name: string): string {
  const characters = Array.from(name).map((one) => {
    const code = one.charCodeAt(0).toString(16);
    return `(?:${one}|#${code}|#${code.toUpperCase()})`;
  });
  return `/${characters.join('')}(?![A-Za-z#])`;
}

const SPACE = '[\\s\\0]*';
/** A page object. Each page has one, uncompressed or in a compressed object stream. */
const PAGE = new RegExp(`${nameOf('Type')}${SPACE}${nameOf('Page')}`, 'gu');
/** The children of a node of the tree of pages: references to pages, or to further nodes. */
const CHILDREN = new RegExp(`${nameOf('Kids')}${SPACE}(\\[[^\\]]*)?`, 'gu');
const REFERENCE = /\d{1,10}\s{1,9}\d{1,10}\s{1,9}R/gu;
/** The mark of a compressed object stream, in the dictionary before its data. */
const MARK = new RegExp(nameOf('ObjStm'), 'gu');
const DATA = /stream\r?\n/gu;
/** The maximum length of a stream's dictionary, which stands before its data. */
const DICTIONARY_CHARACTERS = 2_048;

/** The bytes that compressed objects may still be inflated to, shared by all files of a request. */
export interface InflateBudget {
  bytes: number;
}

/**
 * Counts the pages of a PDF. The count decides the price, so a file that could have more pages than
 * it shows has at least `UNKNOWN_PAGES`: an encrypted one, one that shows a page twice, or one with
 * objects that cannot be read.
 */
export function countPdfPages(file: Buffer, budget: InflateBudget): number {
  const tree = new PageTree();
  const text = file.toString('latin1');
  tree.read(text);
  MARK.lastIndex = 0;
  for (let mark = MARK.exec(text); mark; mark = MARK.exec(text)) {
    DATA.lastIndex = mark.index;
    const data = DATA.exec(text);
    if (!data) break;
    if (data.index - mark.index >= DICTIONARY_CHARACTERS) continue;
    tree.read(inflate(file, DATA.lastIndex, budget));
    MARK.lastIndex = DATA.lastIndex;
  }
  return tree.pages;
}

/** The page objects of a file, and the references to them. */
class PageTree {
  #objects = 0;
  #nodes = 0;
  #references = 0;
  #isOdd = false;
  readonly #children = new Set<string>();

  /** Reads objects; undefined are some that cannot be read. */
  read(text: string | undefined): void {
    this.#isOdd ||= text === undefined;
    if (text === undefined) return;
    this.#objects += text.match(PAGE)?.length ?? 0;
    for (const [, list = ''] of text.matchAll(CHILDREN)) this.#readChildren(list);
  }

  #readChildren(list: string): void {
    const references = list.match(REFERENCE) ?? [];
    this.#nodes += 1;
    this.#references += references.length;
    for (const one of references) this.#children.add(one.replaceAll(/\s{1,9}/gu, ' '));
    // Each reference ends with this letter, and nothing else has it.
    this.#isOdd ||= references.length === 0 || references.length !== list.split('R').length - 1;
  }

  get pages(): number {
    // Each node but the root is a child too.
    const leaves = this.#references - Math.max(this.#nodes - 1, 0);
    const isOdd = this.#isOdd || this.#objects === 0 || this.#references !== this.#children.size;
    return Math.max(this.#objects, leaves, isOdd ? UNKNOWN_PAGES : 0);
  }
}

/** Inflates a stream. Undefined if it is not a deflate stream, or exceeds the budget. */
function inflate(file: Buffer, from: number, budget: InflateBudget): string | undefined {
  if (budget.bytes <= 0) return undefined;
  try {
    const inflated = inflateSync(file.subarray(from), { maxOutputLength: budget.bytes });
    budget.bytes -= inflated.length;
    return inflated.toString('latin1');
  } catch {
    budget.bytes -= file.length - from;
    return undefined;
  }
}
