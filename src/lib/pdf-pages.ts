import { inflateSync } from 'node:zlib';

/** A page object. Each page has one, uncompressed or in a compressed object stream. */
const PAGE = /\/Type\s*\/Page(?![A-Za-z])/gu;
/** The mark of a compressed object stream, in the dictionary before its data. */
const MARK = '/ObjStm';
const DATA = /stream\r?\n/gu;
/** The maximum length of a stream's dictionary, which stands before its data. */
const DICTIONARY_CHARACTERS = 2_048;

/** The bytes that compressed objects may still be inflated to, shared by all files of a request. */
export interface InflateBudget {
  bytes: number;
}

/** Counts the pages of a PDF. Undefined if it shows no page, as in an encrypted file. */
export function countPdfPages(file: Buffer, budget: InflateBudget): number | undefined {
  const text = file.toString('latin1');
  let pages = pagesIn(text);
  let at = text.indexOf(MARK);
  while (at !== -1 && budget.bytes > 0) {
    DATA.lastIndex = at;
    const data = DATA.exec(text);
    if (!data) break;
    if (data.index - at < DICTIONARY_CHARACTERS)
      pages += pagesIn(inflate(file, DATA.lastIndex, budget));
    at = text.indexOf(MARK, DATA.lastIndex);
  }
  return pages > 0 ? pages : undefined;
}

function pagesIn(text: string): number {
  return text.match(PAGE)?.length ?? 0;
}

/** Inflates a stream. Empty if it is not a deflate stream, or exceeds the budget. */
function inflate(file: Buffer, from: number, budget: InflateBudget): string {
  try {
    const inflated = inflateSync(file.subarray(from), { maxOutputLength: budget.bytes });
    budget.bytes -= inflated.length;
    return inflated.toString('latin1');
  } catch {
    budget.bytes -= file.length - from;
    return '';
  }
}
