import { inflateSync } from 'node:zlib';

/** A page object. Each page has one, in the open or in a compressed object stream. */
const PAGE = /\/Type\s*\/Page(?![A-Za-z])/gu;
/** The mark of a compressed object stream, in the dictionary before its data. */
const MARK = '/ObjStm';
const DATA = /stream\r?\n/gu;
/** The dictionary of a stream stands within so many characters before its data. */
const DICTIONARY_CHARACTERS = 2_048;

/** What the compressed objects of files may still unfold to while they are searched. */
export interface Unfolding {
  bytes: number;
}

/** How many pages a PDF has; undefined where its bytes show none, as in an encrypted file. */
export function countPdfPages(file: Buffer, budget: Unfolding): number | undefined {
  const text = file.toString('latin1');
  let pages = pagesIn(text);
  let at = text.indexOf(MARK);
  while (at !== -1 && budget.bytes > 0) {
    DATA.lastIndex = at;
    const data = DATA.exec(text);
    if (!data) break;
    if (data.index - at < DICTIONARY_CHARACTERS)
      pages += pagesIn(unfold(file, DATA.lastIndex, budget));
    at = text.indexOf(MARK, DATA.lastIndex);
  }
  return pages > 0 ? pages : undefined;
}

function pagesIn(text: string): number {
  return text.match(PAGE)?.length ?? 0;
}

/** The text of a compressed stream; empty where it is compressed otherwise, or unfolds too far. */
function unfold(file: Buffer, from: number, budget: Unfolding): string {
  try {
    const unfolded = inflateSync(file.subarray(from), { maxOutputLength: budget.bytes });
    budget.bytes -= unfolded.length;
    return unfolded.toString('latin1');
  } catch {
    budget.bytes -= file.length - from;
    return '';
  }
}
