import { expect } from 'chai';
import { deflateSync } from 'node:zlib';
import { countPdfPages } from '../../src/lib/pdf-pages.js';

const page = '<< /Type /Page /Parent 2 0 R >>\n';
const TREE = '2 0 obj << /Type /Pages /Kids [3 0 R] /Count 9 >> endobj\n';

/** Objects in a compressed object stream. */
function folded(objects: string): Buffer {
  const data = deflateSync(objects);
  const head = `7 0 obj << /Type /ObjStm /Filter /FlateDecode /Length ${data.length} >> stream\r\n`;
  return Buffer.concat([Buffer.from(head), data, Buffer.from('\nendstream endobj\n')]);
}

function pdf(...parts: (string | Buffer)[]): Buffer {
  return Buffer.concat(['%PDF-1.7\n', ...parts].map((part) => Buffer.from(part)));
}

const pagesOf = (file: Buffer, bytes = 1_000_000): number | undefined =>
  countPdfPages(file, { bytes });

describe('the pages of a PDF', () => {
  it('are counted by their objects, without the tree above them', () => {
    expect(pagesOf(pdf(TREE, page, page.replace(' ', ''), '<</Type/Page>>'))).to.equal(3);
  });

  it('are found in compressed object streams', () => {
    expect(pagesOf(pdf(page, folded(page.repeat(4)), folded(TREE), folded(page)))).to.equal(6);
  });

  it('are unknown where nothing shows them', () => {
    expect(pagesOf(pdf(folded(TREE)))).to.equal(undefined);
    expect(pagesOf(pdf('/ObjStm stream\nencrypted'))).to.equal(undefined);
    expect(pagesOf(Buffer.alloc(0))).to.equal(undefined);
  });

  it('are searched for no further than the budget of all files reaches', () => {
    const bomb = pdf(folded(' '.repeat(3_000_000)), folded(page));
    const budget = { bytes: 100_000 };
    expect(countPdfPages(bomb, budget)).to.equal(1);
    for (let files = 0; files < 1_000; files += 1) countPdfPages(bomb, budget);
    expect(budget.bytes).to.be.at.most(0);
  });
});
