import { expect } from 'chai';
import fc from 'fast-check';
import type { EmbeddingCall } from '../../../src/modalities/embedding/codec.js';
import { embeddingBill, embeddingMaxCost } from '../../../src/modalities/embedding/price.js';
import type { Model, Price } from '../../../src/core/model.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

const PRICE: Price = {
  free: false,
  input_nano_per_million: 2_000_000n,
  output_nano_per_million: 0n,
  input_only: true,
};
const model = { id: 'm', limits: { context: 1_000 } } as unknown as Model;
const upstream = upstreamAt(providerAt('http://127.0.0.1'), { price: PRICE });

function callOf(inputs: EmbeddingCall['inputs']): EmbeddingCall {
  return { inputs, dimensions: undefined, encoding_format: 'float', fields: {} };
}

const inputs = fc.oneof(
  fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 5 }),
  fc.array(fc.array(fc.nat(), { minLength: 1 }), { minLength: 1, maxLength: 5 }),
);

describe('the price of embeddings', () => {
  it('is held by the bytes of texts and by the tokens of token lists', () => {
    // 2 nano-dollars a token; 16 tokens around each input, 2 for the braces of no further fields.
    expect(embeddingMaxCost(callOf(['é€']), [upstream])).to.equal(2n * (16n + 5n + 2n));
    expect(embeddingMaxCost(callOf([[1, 2, 3], [4]]), [upstream])).to.equal(2n * (32n + 4n + 2n));
  });

  it('is what the usage of the upstream makes, also beyond the hold', async () => {
    const terms = { call: callOf(['a']), model, price: PRICE, hold_nano: 1n };
    const usage = { prompt_tokens: 3_999, completion_tokens: 0 };
    expect(await embeddingBill(usage, terms)).to.deep.equal({
      usage,
      cost_nano: 7_998n,
      estimated: false,
    });
  });

  for (const [what, said] of [
    ['missing', undefined],
    ['nothing', { prompt_tokens: 0, completion_tokens: 0 }],
    ['absurd', { prompt_tokens: 4_001, completion_tokens: 0 }],
    ['negative', { prompt_tokens: -1, completion_tokens: 0 }],
  ] as const) {
    it(`is estimated where the usage is ${what}`, async () => {
      const terms = { call: callOf([[7, 8]]), model, price: PRICE, hold_nano: 100n };
      const bill = await embeddingBill(said, terms);
      expect(bill).to.deep.include({ cost_nano: 4n, estimated: true });
    });
  }

  it('never passes the hold where it is estimated', async () => {
    await fc.assert(
      fc.asyncProperty(inputs, async (some) => {
        const call = callOf(some);
        const hold_nano = embeddingMaxCost(call, [upstream]);
        const terms = { call, model, price: PRICE, hold_nano };
        const { cost_nano } = await embeddingBill(undefined, terms);
        expect(cost_nano <= hold_nano && cost_nano > 0n).to.equal(true);
      }),
      { numRuns: 100 },
    );
  });
});
