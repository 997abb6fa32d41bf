import { expect } from 'chai';
import { moderationBill, moderationMaxCost } from '../../../src/modalities/moderation/price.js';
import type { Model, Price } from '../../../src/core/model.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

/** One nano-dollar a token. */
const PRICE: Price = {
  free: false,
  input_nano_per_million: 1_000_000n,
  output_nano_per_million: 0n,
};
const url = 'https://example.com/a.png';
const CALL = {
  input: [{ type: 'image_url' as const, image_url: { url } }],
  results: 1,
  fields: {},
};

describe('the price of a moderation', () => {
  const CASES: [string, number | undefined, number | undefined, bigint][] = [
    ["the model's", 5, 300, 5n],
    ["the provider's", undefined, 300, 300n],
    ['a safe', undefined, undefined, 8_192n],
  ];
  for (const [whose, own, of_provider, nano] of CASES) {
    it(`holds and estimates an image by ${whose} number of tokens`, async () => {
      const limits = { image_tokens: own, max_tokens: undefined, context: undefined };
      const model = { id: 'm', limits } as unknown as Model;
      const more = of_provider === undefined ? {} : { image_tokens: of_provider };
      const upstream = upstreamAt(providerAt('http://127.0.0.1', more), { price: PRICE });
      // 64 tokens of what surrounds an image are held beside it.
      const hold_nano = moderationMaxCost(CALL, model, [upstream]);
      expect(hold_nano).to.equal(nano + 64n);
      const terms = { call: CALL, model, provider: upstream.provider, price: PRICE, hold_nano };
      const bill = await moderationBill(undefined, terms);
      expect(bill).to.include({ cost_nano: nano, estimated: true });
    });
  }
});
