import { expect } from 'chai';
import fc from 'fast-check';
import { tokenCost } from '../../src/billing/cost.js';
import type { Price } from '../../src/core/model.js';

const MILLION = 1_000_000n;

const usages = fc.record({
  prompt_tokens: fc.nat({ max: 2 ** 31 }),
  completion_tokens: fc.nat({ max: 2 ** 31 }),
});
const nano = fc.bigInt({ min: 0n, max: 10n ** 17n });
const prices = fc
  .record({ input_nano_per_million: nano, output_nano_per_million: nano })
  .map((price): Price => ({ free: false, ...price }));

function priceOf(input_nano_per_million: bigint, output_nano_per_million: bigint): Price {
  return { free: false, input_nano_per_million, output_nano_per_million };
}

describe('tokenCost', () => {
  const KNOWN: [string, number, number, Price, bigint][] = [
    ['nothing', 0, 0, priceOf(150_000_000n, 600_000_000n), 0n],
    ['a usual call', 9, 5, priceOf(150_000_000n, 600_000_000n), 4350n],
    ['a millionth of a nano-dollar', 1, 0, priceOf(1n, 1n), 1n],
    ['exactly one nano-dollar', 1_000_000, 0, priceOf(1n, 0n), 1n],
    ['one token more', 1_000_001, 0, priceOf(1n, 0n), 2n],
    ['two halves, rounded together', 1, 1, priceOf(500_000n, 500_000n), 1n],
    ['past 53 bits', 2 ** 31, 0, priceOf(10n ** 17n, 0n), 2n ** 31n * 10n ** 11n],
  ];
  for (const [name, prompt_tokens, completion_tokens, price, cost] of KNOWN) {
    it(`is ${cost} for ${name}`, () => {
      expect(tokenCost({ prompt_tokens, completion_tokens }, price)).to.equal(cost);
    });
  }

  it('rounds once, up to the next nano-dollar', () => {
    fc.assert(
      fc.property(usages, prices, (usage, price) => {
        const exact =
          BigInt(usage.prompt_tokens) * price.input_nano_per_million +
          BigInt(usage.completion_tokens) * price.output_nano_per_million;
        const rounding = tokenCost(usage, price) * MILLION - exact;
        expect(rounding >= 0n && rounding < MILLION, `${rounding}`).to.equal(true);
      }),
    );
  });

  it('never falls when a call uses more', () => {
    fc.assert(
      fc.property(usages, usages, prices, (usage, more, price) => {
        const grown = {
          prompt_tokens: usage.prompt_tokens + more.prompt_tokens,
          completion_tokens: usage.completion_tokens + more.completion_tokens,
        };
        expect(tokenCost(grown, price) >= tokenCost(usage, price)).to.equal(true);
      }),
    );
  });
});
