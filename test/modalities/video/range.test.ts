import { expect } from 'chai';
import fc from 'fast-check';
import { rangeOf, slice, spanOf } from '../../../src/modalities/video/range.js';

const SIZE = 40;
const BYTES = Buffer.from(Array.from({ length: SIZE }, (_, at) => at));

/** The bytes in packets of these sizes, as an upstream may send them. */
async function* packets(sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of sizes) {
    yield BYTES.subarray(at, at + size);
    at += size;
  }
  if (at < SIZE) yield BYTES.subarray(at);
}

describe('a range of a video', () => {
  const headers: { range?: string; more?: object; reads: string | undefined }[] = [
    { reads: undefined },
    { range: 'bytes=0-', reads: 'bytes=0-' },
    { range: ' bytes=1 - 2 ', reads: 'bytes=1-2' },
    { range: 'bytes=-7', reads: 'bytes=-7' },
    { range: 'bytes=2-1', reads: undefined },
    { range: 'bytes=0-1,3-4', reads: undefined },
    { range: 'Bytes=0-1', reads: undefined },
    { range: 'bytes=0-1', more: { 'if-range': 'x' }, reads: undefined },
    { range: `bytes=${'9'.repeat(16)}-`, reads: undefined },
  ];
  for (const { range, more, reads } of headers) {
    it(`is read from ${JSON.stringify({ range, ...more })}`, () => {
      expect(rangeOf({ ...(range !== undefined && { range }), ...more })).to.equal(reads);
    });
  }

  it('cannot be satisfied past the end, nor of an empty video', () => {
    expect(spanOf('bytes=40-', SIZE)).to.equal(undefined);
    expect(spanOf('bytes=-0', SIZE)).to.equal(undefined);
    expect(spanOf('bytes=0-', 0)).to.equal(undefined);
  });

  it('is cut from the same bytes, in whatever packets they come', async () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 15 }), { maxLength: 9 });
    const ends = fc.tuple(fc.nat(SIZE - 1), fc.nat(2 * SIZE));
    await fc.assert(
      fc.asyncProperty(sizes, ends, async (cut, [start, length]) => {
        const span = spanOf(`bytes=${start}-${start + length}`, SIZE);
        if (!span) throw new Error('This range is within the video.');
        const got: Uint8Array[] = [];
        for await (const chunk of slice(packets(cut), span)) got.push(chunk);
        const wanted = BYTES.subarray(start, start + length + 1);
        expect(Buffer.concat(got).equals(wanted)).to.equal(true);
        expect(got.some((chunk) => chunk.length === 0)).to.equal(false);
      }),
    );
  });
});
