import { expect } from 'chai';
import { deflateSync } from 'node:zlib';
import { countPdfPages, UNKNOWN_PAGES } from '../../src/lib/pdf-pages.js';

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

const pagesOf = (file: Buffer, bytes = 1_000_000): number => countPdfPages(file, { bytes });

describe('the pages of a PDF', () => {
  it('are counted by their objects, without the tree above them', () => {
    expect(pagesOf(pdf(TREE, page, page.replace(' ', ''), '<</Type/Page>>'))).to.equal(3);
  });

  it('are found in compressed object streams', () => {
    expect(pagesOf(pdf(page, folded(page.repeat(4)), folded(TREE), folded(page)))).to.equal(6);
  });

  const odd: [name: string, file: Buffer][] = [
    ['nothing shows them', pdf(folded(TREE))],
    ['objects cannot be read', pdf(page, '/ObjStm stream\nencrypted')],
    ['a page is shown twice', pdf(TREE.replace('3 0 R', '3 0 R 3  0 R'), page)],
    ['two nodes share a page', pdf(TREE, TREE.replace('2 0 obj', '4 0 obj'), page)],
    ['the children of a node stand elsewhere', pdf(TREE.replace('[3 0 R]', '5 0 R'), page)],
    ['a comment stands in a reference', pdf(TREE.replace('3 0 R', '3 0 R 4 0 %\nR'), page)],
    ['the file is empty', Buffer.alloc(0)],
  ];
  for (const [name, file] of odd) {
    it(`are as many as most providers accept where ${name}`, () => {
      expect(pagesOf(file)).to.equal(UNKNOWN_PAGES);
    });
  }

  it('are counted by the references to them too, for readers that need no types', () => {
    const children = Array.from({ length: 150 }, (_, at) => `${at + 9} 0 R`);
    const root = '1 0 obj << /Kids [2 0 R 3 0 R] >> endobj\n';
    const nodes = [children.slice(0, 75), children.slice(75)].map(
      (some) => `<< /K#69ds [${some.join(' ')}] >>\n`,
    );
    expect(pagesOf(pdf(root, ...nodes, page))).to.equal(150);
  });

  it('are found where their names are spelt by codes of characters', () => {
    expect(pagesOf(pdf('<</T#79pe/Pa#67e>>', '<< /Type\0 /P#61ge >>'))).to.equal(2);
  });

  it('are searched for no further than the budget of all files reaches', () => {
    const bomb = pdf(folded(' '.repeat(3_000_000)), folded(page));
    const budget = { bytes: 100_000 };
    expect(countPdfPages(bomb, budget)).to.equal(UNKNOWN_PAGES);
    for (let files = 0; files < 1_000; files += 1) countPdfPages(bomb, budget);
    expect(budget.bytes).to.be.at.most(0);
  });
});
