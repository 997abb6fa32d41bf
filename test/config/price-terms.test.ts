import { expect } from 'chai';
import fc from 'fast-check';
import { priceAt } from '../../src/config/price-terms.js';
import type { Price } from '../../src/core/model.js';
import { faultsOf, FIXTURES } from './helpers/fixtures.js';

const CARD: Price = {
  free: false,
  input_nano_per_million: 150_000_001n,
  output_nano_per_million: 600_000_000n,
  long_prompt: { above_tokens: 200_000, input_nano_per_million: 3n },
  tiers: new Map([['flex', { input_nano_per_million: 75_000_000n }]]),
  off_peak: [
    { days: ['sat'], from_minute: 990, to_minute: 30, zone: 'UTC', output_nano_per_million: 7n },
  ],
  per_tool_call: new Map([['web_search', 10_000_000n]]),
  per_request: 1n,
  per_image: new Map([['hd/1024x1024', 40_000_000n]]),
};

describe('the terms of a price', () => {
  it('are a share of every amount of the list, each rounded up, and leave all else as it is', () => {
    expect(priceAt({ list_share: 11_000n }, CARD, 1_500n)).to.deep.equal({
      free: false,
      input_nano_per_million: 165_000_002n,
      output_nano_per_million: 660_000_000n,
      long_prompt: { above_tokens: 200_000, input_nano_per_million: 4n },
      tiers: new Map([['flex', { input_nano_per_million: 82_500_000n }]]),
      off_peak: [
        {
          days: ['sat'],
          from_minute: 990,
          to_minute: 30,
          zone: 'UTC',
          output_nano_per_million: 8n,
        },
      ],
      per_tool_call: new Map([['web_search', 11_000_000n]]),
      per_request: 2n,
      per_image: new Map([['hd/1024x1024', 44_000_000n]]),
      cost: {
        ...CARD,
        input_nano_per_million: 127_500_001n,
        output_nano_per_million: 510_000_000n,
        long_prompt: { above_tokens: 200_000, input_nano_per_million: 3n },
        tiers: new Map([['flex', { input_nano_per_million: 63_750_000n }]]),
        off_peak: [
          {
            days: ['sat'],
            from_minute: 990,
            to_minute: 30,
            zone: 'UTC',
            output_nano_per_million: 6n,
          },
        ],
        per_tool_call: new Map([['web_search', 8_500_000n]]),
        per_image: new Map([['hd/1024x1024', 34_000_000n]]),
      },
    });
  });

  it('have one card for both where the account pays what the upstream takes', () => {
    expect(priceAt({ list_share: 10_000n }, CARD, 0n)).to.equal(CARD);
    expect(priceAt(CARD, undefined, 0n)).to.equal(CARD);
    const free: Price = { free: true, input_nano_per_million: 0n, output_nano_per_million: 0n };
    expect(priceAt(free, undefined, 1_500n)).to.equal(free);
    expect(priceAt({ list_share: 11_000n }, undefined, 0n)).to.equal(undefined);
  });

  it('charge at most a nano-dollar more than the exact share, and never less', () => {
    const shares = fc.bigInt({ min: 1n, max: 1_000_000n });
    const amounts = fc.bigInt({ min: 0n, max: 10n ** 18n });
    fc.assert(
      fc.property(shares, amounts, fc.bigInt({ min: 0n, max: 9_999n }), (share, amount, off) => {
        const listed = { ...CARD, input_nano_per_million: amount };
        const price = priceAt({ list_share: share }, listed, off) ?? CARD;
        const charged = price.input_nano_per_million * 10_000n - amount * share;
        const taken = (price.cost ?? price).input_nano_per_million * 10_000n;
        expect(charged >= 0n && charged < 10_000n).to.equal(true);
        const over = taken - amount * (10_000n - off);
        expect(over >= 0n && over < 10_000n).to.equal(true);
      }),
    );
  });

  it('come from the upstream, else the model, else its provider', async () => {
    const file = `${FIXTURES}sound-margins.yaml.txt`;
    const { configuration } = await faultsOf(file, { OPENAI_API_KEY: 'sk-1' });
    const prices = [...(configuration?.models ?? [])].map(([id, { price, upstreams }]) => {
      const [own] = upstreams.map((upstream) => upstream.price);
      const cost = own?.cost?.input_nano_per_million;
      return [id, price.free, own?.input_nano_per_million, cost];
    });
    expect(prices).to.deep.equal([
      ['small', false, 165_000_000n, 127_500_000n],
      ['own', true, 0n, undefined],
      ['cheap', false, 2_437_500_000n, 2_125_000_000n],
    ]);
  });
});
