import { expect } from 'chai';
import fc from 'fast-check';
import { decode, countValues } from '../../src/lib/json-text.js';

/** Names and values both count, and so does the comma before each but the first. */
function punctuation(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value).map((one) => punctuation(one));
  const marks = Array.isArray(value) ? 0 : inner.length;
  return 1 + marks + Math.max(0, inner.length - 1) + inner.reduce((sum, one) => sum + one, 0);
}

describe('the weight of a JSON text', () => {
  it('is told by its punctuation, whatever its strings hold', () => {
    const text = fc.string({
      unit: fc.constantFrom('"', '\\', '{', ',', ':', 'x', 'é'),
      maxLength: 90,
    });
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.nat(),
        fc.array(tie('tree')),
        fc.dictionary(text, tie('tree')),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const bytes = Buffer.from(JSON.stringify(value));
        expect(countValues(bytes, 1e6)).to.deep.equal({ values: 1 + punctuation(value) });
      }),
    );
  });

  it('is not told past the limit, nor of strings that do not end', () => {
    expect(countValues(Buffer.from(`[${'{},'.repeat(100)}{}]`), 100)).to.deep.equal({
      over: 'values',
    });
    expect(countValues(Buffer.from('['.repeat(201)), 1e6)).to.deep.equal({ over: 'depth' });
    expect(countValues(Buffer.from(`"${'\\'.repeat(101)}`), 10)).to.deep.equal({ values: 1 });
  });

  it('does not depend on where the pieces are cut that it is decoded in', async () => {
    for (const pad of ['', 'x', 'xx', 'xxx']) {
      const text = pad + '日é🌍'.repeat(250_000);
      expect((await decode(Buffer.from(text))) === text).to.equal(true);
    }
    const latin = 'plain '.repeat(400_000);
    expect((await decode(Buffer.from(latin))) === latin).to.equal(true);
    const broken = Buffer.alloc(2 * 1024 ** 2 + 10, 0x80);
    expect((await decode(broken)).length).to.equal(broken.length);
  });
});
