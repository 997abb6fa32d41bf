import { deflateSync } from 'node:zlib';

const HEAD = '%PDF-1.7\n';
const END = 'trailer << /Root 1 0 R >>\n%%EOF\n';
const CATALOG = '1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n';

/** A PDF of so many pages, whose root claims another number. */
export function pdfOf(pages: number, claimed = pages): Buffer {
  const kids = Array.from({ length: pages }, (_, at) => `${at + 3} 0 R`).join(' ');
  const leaves = Array.from({ length: pages }, (_, at) => `${at + 3} 0 obj ${PAGE} endobj\n`);
  return Buffer.from([HEAD, CATALOG, root(kids, claimed), ...leaves, END].join(''));
}

const PAGE = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>';
const root = (kids: string, claimed: number): string =>
  `2 0 obj << /Type /Pages /Kids [${kids}] /Count ${claimed} >> endobj\n`;

/** A PDF that shows one page so many times. */
export function pdfOfOne(times: number): Buffer {
  const kids = '3 0 R '.repeat(times);
  return Buffer.from([HEAD, CATALOG, root(kids, 1), `3 0 obj ${PAGE} endobj\n`, END].join(''));
}

/** A PDF of 60 object streams, each of which is inflated to so many bytes of spaces. */
export function pdfBomb(bytes: number): Buffer {
  const data = deflateSync(Buffer.alloc(bytes, ' '));
  const parts = Array.from({ length: 60 }, (_, at) => [
    Buffer.from(`${at + 3} 0 obj << /Type /ObjStm /N 1 /First 10 /Filter /FlateDecode `),
    Buffer.from(`/Length ${data.length} >> stream\n`),
    data,
    Buffer.from('\nendstream endobj\n'),
  ]);
  const tree = '1 0 obj << /Type /Catalog /Pages 900 0 R >> endobj\n';
  return Buffer.concat([Buffer.from(HEAD + tree), ...parts.flat(), Buffer.from(END)]);
}
