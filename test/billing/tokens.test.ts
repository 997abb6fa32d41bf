import { expect } from 'chai';
import fc from 'fast-check';
import { countTokens as countExactly } from 'gpt-tokenizer/encoding/o200k_base';
import { countTokens, partsOf, slicesOf } from '../../src/billing/tokens.js';

const COUNTED = 25_000;
const HOSTILE: [string, string][] = [
  ['one letter', 'a'.repeat(300_000)],
  ['spaces', ' '.repeat(300_000)],
  ['line ends', '\n'.repeat(300_000)],
  ['signs', '!?'.repeat(150_000)],
  ['runs just below the limit', `${'ab'.repeat(32)} `.repeat(4_000)],
  ['runs just above the limit', `${'ab'.repeat(33)}\t`.repeat(4_000)],
  ['no-break spaces', '\u00a0'.repeat(300_000)],
  ['halves of characters', '\ud83d'.repeat(300_000)],
  ['astronauts', '👩‍🚀'.repeat(60_000)],
];

describe('countTokens', () => {
  const KNOWN: [string, number][] = [
    ['', 0],
    ['Hello', 1],
    ['one two three', 3],
    ['今日は、世界', 3],
    ['<|endoftext|>', 7],
  ];
  for (const [text, tokens] of KNOWN) {
    it(`counts ${tokens} in ${JSON.stringify(text)}`, async () => {
      expect(await countTokens(text)).to.equal(tokens);
    });
  }

  it('counts as the tokenizer does where no run is long', async () => {
    const words = fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(words, async (parts) => {
        const text = parts.join(' ');
        fc.pre(!/\S{65}|\s{65}/u.test(text));
        expect(await countTokens(text)).to.equal(
          countExactly(text, { disallowedSpecial: new Set() }),
        );
      }),
    );
  });

  it('extrapolates in proportion past the part that it reads', async () => {
    const once = await countTokens('The fox jumps. '.repeat(1_000));
    const often = await countTokens('The fox jumps. '.repeat(100_000));
    expect(often / once).to.be.within(97, 103);
  });

  it('reads the whole of a text, whatever part of it its sender chose to be cheap', async () => {
    const cheap = 'a'.repeat(20_000);
    const dear = 'The fox jumps. '.repeat(60_000);
    const all = await countTokens(cheap + dear);
    expect(all / (await countTokens(dear))).to.be.within(0.9, 1.1);
    expect(await countTokens(dear + cheap)).to.be.greaterThan(200_000);
  });

  it('gives every part of a long text the same chance to be counted', () => {
    const text = Array.from({ length: 80_000 }, (_, at) => `${at} `).join('');
    for (const luck of [0, 0.5, 0.999_999]) {
      const slices = [...slicesOf(text, () => luck)].filter((slice) => slice !== '');
      const starts = slices.map((slice) => text.indexOf(slice));
      const stretch = text.length / slices.length;
      for (const [at, start] of starts.entries()) {
        expect(start).to.be.within(at * stretch - 1, (at + 1) * stretch);
      }
    }
  });

  it('is never below the minimum that the bytes of a text imply', async () => {
    for (const text of [' '.repeat(500_000), '\n'.repeat(200_000), ' '.repeat(129)]) {
      expect(await countTokens(text)).to.be.at.least(Math.ceil(text.length / 128));
    }
  });

  it('is never above the bytes of a text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 3_000 }), async (text) => {
        expect(await countTokens(text)).to.be.at.most(Buffer.byteLength(text));
      }),
    );
  });

  for (const [name, text] of HOSTILE) {
    it(`shows the tokenizer little, and no long run, of a text of ${name}`, async () => {
      const slices = [...slicesOf(text)];
      expect(slices.join('').length).to.be.at.most(COUNTED);
      const parts = slices.flatMap((slice) => [...partsOf(slice)]);
      expect(parts.join('')).to.equal(slices.join(''));
      expect(parts.filter((part) => /\S{65}|\s{65}/u.test(part))).to.deep.equal([]);
      const tokens = await countTokens(text);
      expect(tokens).to.be.greaterThan(0).and.at.most(Buffer.byteLength(text));
    });
  }

  it('yields to other requests between the long texts of one answer', async () => {
    const text = 'The fox jumps. '.repeat(1_000);
    let turns = 0;
    let ticking = setImmediate(function tick() {
      turns += 1;
      ticking = setImmediate(tick);
    });
    for (let choice = 0; choice < 20; choice += 1) await countTokens(text);
    clearImmediate(ticking);
    expect(turns).to.be.at.least(19);
  });
});
