import { PDF, PdfDict, PdfRef, type PdfObject } from '@libpdf/core';

/** More pages than any provider reads. */
const MAX_PAGES = 1_000;

/**
 * Counts the pages of a PDF by the leaves of its tree of pages, as each is rendered. The number
 * that the root of the tree claims counts too, if it is larger: programs believe either. Throws if
 * the file cannot be read, or shows no page.
 */
export async function pagesOfPdf(file: Uint8Array): Promise<number> {
  const pdf = await PDF.load(file);
  const resolve = (ref: PdfRef): PdfObject | null => pdf.getObject(ref);
  const root = pdf.getCatalog()?.getDict('Pages', resolve);
  if (!root || (pdf.isEncrypted && !pdf.isAuthenticated)) throw new Error('It has no tree.');
  // A page that is shown twice costs twice, so a tree may have more leaves than the file bytes.
  const left = [root];
  let pages = 0;
  for (let node = left.pop(); node && pages < MAX_PAGES; node = left.pop()) {
    const kids = node.getArray('Kids', resolve);
    if (!kids) pages += 1;
    for (let at = 0; kids && at < kids.length; at += 1) {
      const kid = kids.at(at, resolve);
      if (kid instanceof PdfDict) left.push(kid);
    }
  }
  const claimed = root.getNumber('Count', resolve)?.value ?? 0;
  if (pages === 0) throw new Error('It shows no page.');
  return Math.min(MAX_PAGES, Math.max(pages, claimed));
}
