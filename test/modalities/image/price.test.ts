import { expect } from 'chai';
import fc from 'fast-check';
import {
  imageBill,
  imageMaxCost,
  imagePrice,
  type ImageTerms,
} from '../../../src/modalities/image/price.js';
import type { ImageCall, MadeImage } from '../../../src/modalities/image/codec.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';
import type { Model, Price } from '../../../src/core/model.js';

const CALL: ImageCall = {
  prompt: 'A cat',
  n: 2,
  size: { width: 1_024, height: 1_024 },
  quality: 'standard',
  style: undefined,
  response_format: 'url',
  fields: {},
};
/** 64 for what surrounds it, 5 for the prompt, 2 for the braces of no further fields. */
const PROMPT_TOKENS = 71;
const MAX_TOKENS = 8_192;

const NONE: Price = { free: false, input_nano_per_million: 0n, output_nano_per_million: 0n };
const ANY: Price = { ...NONE, per_image: new Map([['any', 40n]]) };
const QUALITY: Price = {
  ...NONE,
  per_image: new Map([
    ['standard', 40n],
    ['hd', 80n],
  ]),
};
const GRID: Price = {
  ...NONE,
  per_image: new Map([
    ['low/1024x1024', 10n],
    ['low/1536x1024', 20n],
    ['high/1024x1024', 100n],
    ['high/1536x1024', 200n],
  ]),
};
const SIZE: Price = { ...NONE, per_image: new Map([['1024x1024', 40n]]) };
/** 5 and 30 nano-dollars a token. */
const TOKENS: Price = {
  ...NONE,
  input_nano_per_million: 5_000_000n,
  output_nano_per_million: 30_000_000n,
};
const BOTH: Price = { ...TOKENS, per_image: new Map([['any', 40n]]) };
/** 5 and 8 nano-dollars a token that is read, 10 and 30 for one that is made. */
const CLASSED: Price = {
  ...NONE,
  input_nano_per_million: 5_000_000n,
  image_input_nano_per_million: 8_000_000n,
  output_nano_per_million: 10_000_000n,
  image_output_nano_per_million: 30_000_000n,
};
const FREE: Price = { ...NONE, free: true };

function modelOf(max_tokens?: number): Model {
  const limits = { max_tokens, context: undefined, image_tokens: 1 };
  return { id: 'm', limits } as unknown as Model;
}

const provider = providerAt('http://127.0.0.1');

/** So many images of which the upstream tells nothing. */
function some(count: number): MadeImage[] {
  return Array.from({ length: count }, () => ({}));
}

function boundOf(call: ImageCall, prices: readonly Price[], max_tokens?: number): bigint {
  const upstreams = prices.map((price) => upstreamAt(provider, { price }));
  return imageMaxCost(call, modelOf(max_tokens), upstreams);
}

function termsOf(price: Price, more: Partial<ImageTerms> = {}): ImageTerms {
  const hold_nano = price.free ? null : boundOf(CALL, [price]);
  return { call: CALL, model: modelOf(), price, hold_nano, ...more };
}

describe('the price of an image', () => {
  const small = { width: 512, height: 512 };
  const wide = { width: 1_536, height: 1_024 };
  const anySize = { size: undefined, any_size: true };
  type Kind = Pick<ImageCall, 'size' | 'any_size' | 'quality'>;
  const CASES: [string, Price, Kind, bigint | undefined][] = [
    ['one for all', ANY, { size: small, quality: 'hd' }, 40n],
    ['one by quality', QUALITY, { size: small, quality: 'hd' }, 80n],
    [
      'none for a quality that is not said',
      QUALITY,
      { size: small, quality: undefined },
      undefined,
    ],
    ['one by size', SIZE, CALL, 40n],
    ['none for another size', SIZE, { size: small, quality: 'hd' }, undefined],
    ['none for a size that is not said', SIZE, { size: undefined, quality: 'hd' }, undefined],
    [
      'that of standard for low, which is not listed',
      QUALITY,
      { size: small, quality: 'low' },
      40n,
    ],
    ['that of the same quality in another word', QUALITY, { size: small, quality: 'high' }, 80n],
    ['one by quality and size', GRID, { size: wide, quality: 'hd' }, 200n],
    ['none for a quality at another size', GRID, { size: small, quality: 'low' }, undefined],
    ['the dearest quality for auto', GRID, { size: CALL.size, quality: 'auto' }, 100n],
    ['the dearest size for auto', GRID, { ...anySize, quality: 'low' }, 20n],
    ['the dearest of all where both are auto', GRID, { ...anySize, quality: 'auto' }, 200n],
    ['the flat one for auto', ANY, { ...anySize, quality: 'auto' }, 40n],
    ['nothing but its tokens', TOKENS, CALL, 0n],
    ['nothing', FREE, CALL, 0n],
  ];
  for (const [what, price, call, nano] of CASES) {
    it(`is ${what}`, () => expect(imagePrice(price, call)).to.equal(nano));
  }
});

describe('the max cost of an image request', () => {
  const CASES: [string, Price[], bigint][] = [
    ['all images', [ANY], 80n],
    ['the dearest upstream', [ANY, { ...ANY, per_image: new Map([['any', 50n]]) }, FREE], 100n],
    ['all tokens', [TOKENS], BigInt(2 * PROMPT_TOKENS * 5 + 2 * MAX_TOKENS * 30)],
    ['images and tokens', [BOTH], BigInt(80 + 2 * PROMPT_TOKENS * 5 + 2 * MAX_TOKENS * 30)],
    ['tokens of images', [CLASSED], BigInt(2 * PROMPT_TOKENS * 5 + 2 * MAX_TOKENS * 30)],
    ['nothing', [FREE], 0n],
  ];
  for (const [what, prices, nano] of CASES) {
    it(`is that of ${what}`, () => expect(boundOf(CALL, prices)).to.equal(nano));
  }

  it('rests on the limit of the model, and on further fields', () => {
    const call = { ...CALL, fields: { note: 'x'.repeat(89) } };
    expect(boundOf(call, [TOKENS], 100)).to.equal(BigInt(2 * (69 + 100) * 5 + 2 * 100 * 30));
  });
});

it('the max cost of an edit has its images at the price of images', () => {
  const call = { ...CALL, n: 1, images: ['data:image/png;base64,AA==', 'data:,'], mask: 'data:,' };
  const nano = BigInt(PROMPT_TOKENS * 5 + 3 * 8 + MAX_TOKENS * 30);
  expect(boundOf(call, [CLASSED])).to.equal(nano);
});

describe('the bill of an image request', () => {
  const told = { prompt_tokens: 10, completion_tokens: 1_000 };
  const usage = { ...told, image_output_tokens: 1_000 };
  const split = {
    prompt_tokens: 10,
    completion_tokens: 1_000,
    prompt_tokens_details: { image_tokens: 6 },
    completion_tokens_details: { image_tokens: 900, reasoning_tokens: 60 },
  };

  it('is at the price of each class, and of images where the output is not split', async () => {
    const { cost_nano, usage: read } = await imageBill([split], some(1), termsOf(CLASSED));
    expect(cost_nano).to.equal(BigInt(4 * 5 + 6 * 8 + 100 * 10 + 900 * 30));
    expect(read).to.include({ image_input_tokens: 6, image_output_tokens: 900 });
    const bill = await imageBill([told], some(1), termsOf(CLASSED));
    expect(bill.cost_nano).to.equal(BigInt(10 * 5 + 1_000 * 30));
    const completion_tokens_details = { reasoning_tokens: 60 };
    const thought = await imageBill(
      [{ ...told, completion_tokens_details }],
      some(1),
      termsOf(CLASSED),
    );
    expect(thought.cost_nano).to.equal(BigInt(10 * 5 + 60 * 10 + 940 * 30));
  });

  it('tells which classes no price covers', async () => {
    const units = async (said: object, price: Price) =>
      (await imageBill([said], some(1), termsOf(price))).unpriced;
    const both = ['image_output_per_million', 'image_input_per_million'];
    expect(await units(split, TOKENS)).to.deep.equal(both);
    const { completion_tokens_details: _, ...unsplit } = split;
    expect(await units(unsplit, TOKENS)).to.deep.equal(['image_input_per_million']);
    for (const price of [CLASSED, ANY, FREE]) expect(await units(split, price)).to.equal(undefined);
    const { image_input_nano_per_million: __, ...asText } = CLASSED;
    expect(await units(split, asText)).to.equal(undefined);
  });

  it('counts each token once, at most what was held, whatever is told of the classes', async () => {
    const call = { ...CALL, n: 1, images: Array.from({ length: 16 }, () => 'data:,') };
    const part = fc.nat({ max: 80 });
    const said = fc.record({
      prompt_tokens: part,
      completion_tokens: fc.integer({ min: 1, max: MAX_TOKENS }),
      prompt_tokens_details: fc.record({ image_tokens: fc.nat({ max: 16 }), cached_tokens: part }),
      completion_tokens_details: fc.record(
        { image_tokens: fc.nat({ max: 9_000 }), reasoning_tokens: part },
        { requiredKeys: [] },
      ),
    });
    await fc.assert(
      fc.asyncProperty(said, async (report) => {
        const terms = termsOf(CLASSED, { call, hold_nano: boundOf(call, [CLASSED]) });
        const bill = await imageBill([report], some(1), terms);
        const { prompt_tokens, completion_tokens } = report;
        const { image_input_tokens: seen = 0, image_output_tokens: made = 0 } = bill.usage;
        expect(seen <= prompt_tokens && made <= completion_tokens).to.equal(true);
        const input = (prompt_tokens - seen) * 5 + seen * 8;
        const output = (completion_tokens - made) * 10 + made * 30;
        expect(bill.cost_nano).to.equal(BigInt(input + output));
        expect(bill.cost_nano <= (terms.hold_nano ?? 0n)).to.equal(true);
      }),
    );
  });

  it('counts what was delivered', async () => {
    const bill = await imageBill([told], some(1), termsOf(ANY));
    expect(bill).to.deep.equal({ usage, cost_nano: 40n, estimated: false });
  });

  it('is nothing where nothing was delivered', async () => {
    const { cost_nano, estimated } = await imageBill([told], some(0), termsOf(BOTH));
    expect([cost_nano, estimated]).to.deep.equal([0n, false]);
  });

  it('believes tokens of all calls together', async () => {
    const bill = await imageBill([told, told], some(2), termsOf(BOTH));
    const all = { prompt_tokens: 20, completion_tokens: 2_000, image_output_tokens: 2_000 };
    expect(bill).to.deep.equal({ usage: all, cost_nano: 80n + 100n + 60_000n, estimated: false });
  });

  const ABSURD: [string, unknown][] = [
    ['missing', undefined],
    ['negative', { prompt_tokens: -1, completion_tokens: 5 }],
    ['half', { prompt_tokens: 1.5, completion_tokens: 5 }],
    ['text', { prompt_tokens: '1', completion_tokens: 5 }],
    ['absurdly large', { prompt_tokens: 1, completion_tokens: 1e12 }],
    ['of an absurdly long prompt', { prompt_tokens: 10_000_001, completion_tokens: 1 }],
  ];
  for (const [what, said] of ABSURD) {
    it(`has zeros for usage that is ${what}, where tokens cost nothing`, async () => {
      const zeros = { prompt_tokens: 0, completion_tokens: 0 };
      const bill = await imageBill([said], some(2), termsOf(ANY));
      expect(bill).to.deep.equal({ usage: zeros, cost_nano: 80n, estimated: false });
    });

    it(`estimates usage that is ${what}, where tokens cost`, async () => {
      const bill = await imageBill([said, told], some(2), termsOf(TOKENS));
      expect(bill.estimated).to.equal(true);
      const images = { completion_tokens: 2_112, image_output_tokens: 2_112 };
      expect(bill.usage).to.deep.equal({ prompt_tokens: 2, ...images });
      expect(bill.cost_nano).to.equal(BigInt(2 * 5 + 2_112 * 30));
    });
  }

  it('does not believe that images sold by their tokens took none', async () => {
    const bill = await imageBill(
      [{ prompt_tokens: 9, completion_tokens: 0 }],
      some(1),
      termsOf(TOKENS),
    );
    expect(bill.estimated).to.equal(true);
    expect(bill.usage.completion_tokens).to.equal(1_056);
  });

  it('is the true cost of believable usage beyond the hold', async () => {
    const dear = { prompt_tokens: 2 * PROMPT_TOKENS + 1, completion_tokens: 2 * MAX_TOKENS + 1 };
    const terms = termsOf(TOKENS);
    const bill = await imageBill([dear], some(2), terms);
    expect(bill).to.deep.equal({
      usage: { ...dear, image_output_tokens: dear.completion_tokens },
      cost_nano: 35n + (terms.hold_nano ?? 0n),
      estimated: false,
    });
  });

  it('never passes the hold where it is estimated, whatever the upstream says', async () => {
    const prices = fc.constantFrom(ANY, QUALITY, SIZE, TOKENS, BOTH, FREE);
    const count = fc.oneof(fc.integer(), fc.double(), fc.string(), fc.constant(undefined));
    const said = fc.record({ prompt_tokens: count, completion_tokens: count });
    const usages = fc.array(said, { minLength: 1, maxLength: 2 });
    const counts = fc.integer({ min: 0, max: 2 });
    await fc.assert(
      fc.asyncProperty(prices, usages, counts, async (price, all, delivered) => {
        const terms = termsOf(price);
        const { cost_nano, estimated } = await imageBill(all, some(delivered), terms);
        expect(cost_nano >= 0n).to.equal(true);
        if (estimated) expect(cost_nano <= (terms.hold_nano ?? 0n)).to.equal(true);
      }),
    );
  });
});
