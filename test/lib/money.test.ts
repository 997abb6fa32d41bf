import { expect } from 'chai';
import fc from 'fast-check';
import { formatDollars, parseDollars, roundedDollars } from '../../src/lib/money.js';

describe('parsing and formatting dollars', () => {
  const amounts: [string, bigint][] = [
    ['10', 10_000_000_000n],
    ['10.00', 10_000_000_000n],
    ['0.15', 150_000_000n],
    ['.5', 500_000_000n],
    ['5.', 5_000_000_000n],
    ['+1', 1_000_000_000n],
    ['1e-3', 1_000_000n],
    ['1.5E2', 150_000_000_000n],
    ['0.000000001', 1n],
    ['0.1000000000000', 100_000_000n],
    ['-0.25', -250_000_000n],
    ['0', 0n],
    ['9007199254740993', 9_007_199_254_740_993_000_000_000n],
  ];
  for (const [text, nano] of amounts) {
    it(`reads ${text} without a float`, () => expect(parseDollars(text)).to.equal(nano));
  }

  const wrong = [
    '',
    '.',
    '-',
    'ten',
    '1,5',
    '1 0',
    '0x10',
    '1e',
    '1e999',
    '0.0000000001',
    '1e-10',
    'NaN',
    'Infinity',
    '1'.repeat(65),
    '１',
    '1\n',
  ];
  for (const text of wrong) {
    it(`refuses ${JSON.stringify(text).slice(0, 24)}`, () => {
      expect(() => parseDollars(text)).to.throw(RangeError);
    });
  }

  const shown: [bigint, string][] = [
    [10_000_000_000n, '10.00'],
    [123_000n, '0.000123'],
    [1n, '0.000000001'],
    [0n, '0.00'],
    [-1_500_000_000n, '-1.50'],
    [100_000_000n, '0.10'],
    [-1n, '-0.000000001'],
  ];
  for (const [nano, text] of shown) {
    it(`shows ${nano} as ${text}`, () => expect(formatDollars(nano)).to.equal(text));
  }

  it('reads back every amount that it shows', () => {
    const amount = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n });
    fc.assert(fc.property(amount, (nano) => parseDollars(formatDollars(nano)) === nano));
  });
});

describe('dollars that another program wrote', () => {
  it('are the same as those of the file, where they have as many digits', () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 20n), 10n ** 20n), (nano) => {
        expect(roundedDollars(formatDollars(nano))).to.equal(nano);
      }),
    );
  });

  const rounded: [string, bigint | undefined][] = [
    ['0.00000000049', 0n],
    ['0.0000000005', 1n],
    ['-0.0000000015', -2n],
    ['1.2345678905e-1', 123_456_789n],
    ['1e-12', 0n],
    ['3', 3_000_000_000n],
    ['', undefined],
    ['.', undefined],
    ['1,5', undefined],
    ['NaN', undefined],
    ['9'.repeat(31), undefined],
  ];
  for (const [text, nano] of rounded) {
    it(`are ${nano} nano-dollars for "${text}"`, () => {
      expect(roundedDollars(text)).to.equal(nano);
    });
  }
});
