import { expect } from 'chai';
import fc from 'fast-check';
import { rateCards, usagesOf } from './helpers/rate-cards.js';
import {
  callsCost,
  isPlausible,
  maxTokenCost,
  readUsage,
  addUsage,
  cacheSavings,
  tokenCost,
} from '../../src/billing/bill.js';
import type { Price } from '../../src/core/model.js';
import { INPUT_CLASSES, NO_TOKENS, type TokenUsage } from '../../src/core/usage.js';

const MILLION = 1_000_000n;

const usages = fc.record({
  prompt_tokens: fc.nat({ max: 2 ** 31 }),
  completion_tokens: fc.nat({ max: 2 ** 31 }),
});
const nano = fc.bigInt({ min: 0n, max: 10n ** 17n });
const prices: fc.Arbitrary<Price> = fc.record(
  {
    free: fc.constant(false),
    input_nano_per_million: nano,
    output_nano_per_million: nano,
    cached_input_nano_per_million: nano,
    cache_write_nano_per_million: nano,
    cache_write_1h_nano_per_million: nano,
    audio_input_nano_per_million: nano,
    image_input_nano_per_million: nano,
    audio_output_nano_per_million: nano,
    image_output_nano_per_million: nano,
  },
  { requiredKeys: ['free', 'input_nano_per_million', 'output_nano_per_million'] },
);

/** Figures as an upstream may tell them: sensible, absurd, or not figures at all. */
const figure = fc.oneof(fc.nat({ max: 1_000 }), fc.integer(), fc.anything());
const told = fc.record({
  prompt_tokens: fc.nat({ max: 1_000 }),
  completion_tokens: fc.nat({ max: 1_000 }),
  prompt_tokens_details: fc.oneof(
    fc.anything(),
    fc.record(
      {
        cached_tokens: figure,
        cache_write_tokens: figure,
        cache_write_1h_tokens: figure,
        audio_tokens: figure,
        image_tokens: figure,
      },
      { requiredKeys: [] },
    ),
  ),
  completion_tokens_details: fc.oneof(
    fc.anything(),
    fc.record(
      { reasoning_tokens: figure, audio_tokens: figure, image_tokens: figure },
      { requiredKeys: [] },
    ),
  ),
});

function read(usage: unknown): TokenUsage {
  const tokens = readUsage(usage);
  if (!tokens) throw new Error('The usage was not read.');
  return tokens;
}

function priceOf(input_nano_per_million: bigint, output_nano_per_million: bigint): Price {
  return { free: false, input_nano_per_million, output_nano_per_million };
}

/** A price of its own for each class, in nano-dollars a token: 1 to 6, then 10, 20 and 40. */
const CLASSED: Price = {
  free: false,
  input_nano_per_million: MILLION,
  cached_input_nano_per_million: 2n * MILLION,
  cache_write_nano_per_million: 3n * MILLION,
  audio_input_nano_per_million: 4n * MILLION,
  cache_write_1h_nano_per_million: 5n * MILLION,
  image_input_nano_per_million: 6n * MILLION,
  output_nano_per_million: 10n * MILLION,
  audio_output_nano_per_million: 20n * MILLION,
  image_output_nano_per_million: 40n * MILLION,
};

describe('readUsage', () => {
  const usage = (input?: unknown, output?: unknown): object => ({
    prompt_tokens: 100,
    completion_tokens: 50,
    prompt_tokens_details: input,
    completion_tokens_details: output,
  });
  const KNOWN: [string, object, object][] = [
    ['two figures alone', usage(), {}],
    [
      'every class',
      usage(
        {
          cached_tokens: 20,
          cache_write_tokens: 30,
          cache_write_1h_tokens: 5,
          audio_tokens: 30,
          image_tokens: 10,
        },
        { reasoning_tokens: 15, audio_tokens: 25, image_tokens: 5 },
      ),
      {
        cached_tokens: 20,
        cache_write_tokens: 30,
        cache_write_1h_tokens: 5,
        audio_input_tokens: 30,
        image_input_tokens: 10,
        reasoning_tokens: 15,
        audio_output_tokens: 25,
        image_output_tokens: 5,
      },
    ],
    ['a class of nothing', usage({ cached_tokens: 0 }), { cached_tokens: 0 }],
    ['a class that is all of it', usage({ cached_tokens: 100 }), { cached_tokens: 100 }],
    [
      'sound and cached text that overlap, the sound less what may be cached',
      usage({ cached_tokens: 80, audio_tokens: 60 }),
      { cached_tokens: 80, audio_input_tokens: 20 },
    ],
    [
      'images and cached text that overlap, the images less what may be cached',
      usage({ cached_tokens: 80, image_tokens: 60 }),
      { cached_tokens: 80, image_input_tokens: 20 },
    ],
    [
      'images and sound that overlap, the images less what may be sound',
      usage({}, { audio_tokens: 40, image_tokens: 30 }),
      { audio_output_tokens: 40, image_output_tokens: 10 },
    ],
    [
      'four classes that overlap',
      usage({
        cached_tokens: 60,
        cache_write_tokens: 30,
        cache_write_1h_tokens: 20,
        audio_tokens: 10,
      }),
      {
        cached_tokens: 60,
        cache_write_tokens: 30,
        cache_write_1h_tokens: 10,
        audio_input_tokens: 0,
      },
    ],
    [
      'reasoning and sound that overlap, which nobody adds up',
      usage({}, { reasoning_tokens: 40, audio_tokens: 40 }),
      { reasoning_tokens: 40, audio_output_tokens: 40 },
    ],
    ['details that are null', usage(null, null), {}],
    ['details that are a list', usage([20], [20]), {}],
  ];
  for (const [name, said, classes] of KNOWN) {
    it(`reads ${name}`, () => {
      const figures = { prompt_tokens: 100, completion_tokens: 50 };
      expect(readUsage(said)).to.deep.equal({ ...figures, ...classes });
    });
  }

  const NO_COUNTS: [string, unknown][] = [
    ['more than its whole', 101],
    ['below zero', -1],
    ['a fraction', 0.5],
    ['text', '20'],
    ['null', null],
    ['no number', NaN],
  ];
  for (const [name, count] of NO_COUNTS) {
    it(`leaves out a class that is ${name}, and keeps the rest`, () => {
      const details = { cached_tokens: count, cache_write_tokens: 7, audio_tokens: count };
      const output = { reasoning_tokens: count, audio_tokens: 6 };
      expect(readUsage(usage(details, output))).to.deep.equal({
        prompt_tokens: 100,
        completion_tokens: 50,
        cache_write_tokens: 7,
        audio_output_tokens: 6,
      });
    });
  }

  it('reads the tier of the answer and the calls of tools', () => {
    const told = { service_tier: 'flex', tool_calls: { web_search: 2, file_search: 0 } };
    const { tier, tool_calls } = read({ ...usage(), ...told });
    expect({ tier, tool_calls }).to.deep.equal({ tier: 'flex', tool_calls: { web_search: 2 } });
  });

  it('leaves out a tier that is no name, and counts of tools that are nonsense', () => {
    for (const service_tier of [null, '', 'a b', 7, ['flex'], 'x'.repeat(65)]) {
      expect(read({ ...usage(), service_tier })).to.not.have.property('tier');
    }
    const calls = [null, [], { web_search: -1 }, { web_search: 1.5 }, { web_search: 1_001 }];
    for (const tool_calls of [...calls, { web_search: '2' }, { 'web search': 2 }, {}, 4]) {
      expect(read({ ...usage(), tool_calls })).to.not.have.property('tool_calls');
    }
  });

  for (const said of [undefined, null, 'much', [], {}, { prompt_tokens: 1 }]) {
    it(`reads nothing from ${JSON.stringify(said)}`, () => {
      expect(readUsage(said)).to.equal(undefined);
    });
  }

  it('never finds more in the classes of a prompt than in the prompt', () => {
    fc.assert(
      fc.property(told, (said) => {
        const tokens = read(said);
        const sum = INPUT_CLASSES.reduce((all, name) => all + (tokens[name] ?? 0), 0);
        expect(sum >= 0 && sum <= tokens.prompt_tokens).to.equal(true);
        const { audio_output_tokens = 0, image_output_tokens = 0, reasoning_tokens = 0 } = tokens;
        const out = Math.max(audio_output_tokens + image_output_tokens, reasoning_tokens);
        expect(out <= tokens.completion_tokens).to.equal(true);
        for (const count of Object.values(tokens)) expect(count).to.be.at.least(0);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('tokenCost', () => {
  const KNOWN: [string, TokenUsage, Price, bigint][] = [
    ['nothing', { prompt_tokens: 0, completion_tokens: 0 }, priceOf(150n * MILLION, 1n), 0n],
    [
      'a usual call',
      { prompt_tokens: 9, completion_tokens: 5 },
      priceOf(150_000_000n, 600_000_000n),
      4_350n,
    ],
    [
      'a millionth of a nano-dollar',
      { prompt_tokens: 1, completion_tokens: 0 },
      priceOf(1n, 1n),
      1n,
    ],
    ['exactly one', { prompt_tokens: 1_000_000, completion_tokens: 0 }, priceOf(1n, 0n), 1n],
    ['one token more', { prompt_tokens: 1_000_001, completion_tokens: 0 }, priceOf(1n, 0n), 2n],
    [
      'two halves, rounded together',
      { prompt_tokens: 1, completion_tokens: 1 },
      priceOf(500_000n, 500_000n),
      1n,
    ],
    [
      'past 53 bits',
      { prompt_tokens: 2 ** 31, completion_tokens: 0 },
      priceOf(10n ** 17n, 0n),
      2n ** 31n * 10n ** 11n,
    ],
    [
      'cached input',
      { prompt_tokens: 10, completion_tokens: 0, cached_tokens: 4 },
      CLASSED,
      6n + 4n * 2n,
    ],
    [
      'cache writes',
      { prompt_tokens: 10, completion_tokens: 0, cache_write_tokens: 4 },
      CLASSED,
      6n + 4n * 3n,
    ],
    [
      'cache writes of an hour',
      { prompt_tokens: 10, completion_tokens: 0, cache_write_tokens: 3, cache_write_1h_tokens: 4 },
      CLASSED,
      3n + 3n * 3n + 4n * 5n,
    ],
    [
      'cache writes of an hour that have no price of their own',
      { prompt_tokens: 10, completion_tokens: 0, cache_write_1h_tokens: 4 },
      { ...priceOf(MILLION, 0n), cache_write_nano_per_million: 3n * MILLION },
      6n + 4n * 3n,
    ],
    [
      'sound in the prompt',
      { prompt_tokens: 10, completion_tokens: 0, audio_input_tokens: 4 },
      CLASSED,
      6n + 4n * 4n,
    ],
    [
      'sound in the answer',
      { prompt_tokens: 0, completion_tokens: 10, audio_output_tokens: 4 },
      CLASSED,
      6n * 10n + 4n * 20n,
    ],
    [
      'images in the prompt',
      { prompt_tokens: 10, completion_tokens: 0, image_input_tokens: 4 },
      CLASSED,
      6n + 4n * 6n,
    ],
    [
      'images in the answer',
      { prompt_tokens: 0, completion_tokens: 10, image_output_tokens: 4, audio_output_tokens: 1 },
      CLASSED,
      5n * 10n + 20n + 4n * 40n,
    ],
    [
      'reasoning, which is output like any other',
      { prompt_tokens: 0, completion_tokens: 10, reasoning_tokens: 4 },
      CLASSED,
      100n,
    ],
    [
      'classes without a price of their own',
      {
        prompt_tokens: 10,
        completion_tokens: 10,
        cached_tokens: 2,
        cache_write_tokens: 3,
        audio_input_tokens: 4,
        image_input_tokens: 1,
        audio_output_tokens: 5,
        image_output_tokens: 2,
      },
      priceOf(MILLION, 10n * MILLION),
      110n,
    ],
    [
      'a class that is free',
      { prompt_tokens: 10, completion_tokens: 0, cached_tokens: 10 },
      { ...CLASSED, cached_input_nano_per_million: 0n },
      0n,
    ],
  ];
  for (const [name, usage, price, cost] of KNOWN) {
    it(`is ${cost} for ${name}`, () => {
      expect(tokenCost(usage, price)).to.equal(cost);
    });
  }

  it('is the sum over the classes, rounded once, up to the next nano-dollar', () => {
    fc.assert(
      fc.property(told, prices, (report, price) => {
        const usage = read(report);
        const { cached_tokens = 0, cache_write_tokens = 0, audio_input_tokens = 0 } = usage;
        const { audio_output_tokens = 0, cache_write_1h_tokens = 0 } = usage;
        const { image_input_tokens = 0, image_output_tokens = 0 } = usage;
        const said = usage.completion_tokens - audio_output_tokens - image_output_tokens;
        const classes = INPUT_CLASSES.reduce((all, name) => all + (usage[name] ?? 0), 0);
        const text = usage.prompt_tokens - classes;
        const { input_nano_per_million: input, output_nano_per_million: output } = price;
        const exact = [
          [text, input],
          [cached_tokens, price.cached_input_nano_per_million ?? input],
          [cache_write_tokens, price.cache_write_nano_per_million ?? input],
          [
            cache_write_1h_tokens,
            price.cache_write_1h_nano_per_million ?? price.cache_write_nano_per_million ?? input,
          ],
          [audio_input_tokens, price.audio_input_nano_per_million ?? input],
          [image_input_tokens, price.image_input_nano_per_million ?? input],
          [said, output],
          [audio_output_tokens, price.audio_output_nano_per_million ?? output],
          [image_output_tokens, price.image_output_nano_per_million ?? output],
        ] as const;
        const sum = exact.reduce((all, [count, each]) => all + BigInt(count) * each, 0n);
        const rounding = tokenCost(usage, price) * MILLION - sum;
        expect(rounding >= 0n && rounding < MILLION, `${rounding}`).to.equal(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is what it were without caches less what they saved', () => {
    fc.assert(
      fc.property(told, prices, (said, price) => {
        const usage = read(said);
        const none = { cached_tokens: 0, cache_write_tokens: 0, cache_write_1h_tokens: 0 };
        const plain = { ...usage, ...none };
        const { saved_nano = 0n, missed_nano = 0n } = cacheSavings([{ usage, card: price }]);
        expect(tokenCost(usage, price)).to.equal(tokenCost(plain, price) - saved_nano);
        expect(missed_nano >= 0n).to.equal(true);
        const all = { ...plain, audio_input_tokens: 0, image_input_tokens: 0 };
        const cached = { ...all, cached_tokens: usage.prompt_tokens };
        const most = tokenCost(all, price) - tokenCost(cached, price);
        expect(missed_nano <= (most > 0n ? most : 0n) + 1n, 'no more than all').to.equal(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is never below nothing, whatever an upstream tells', () => {
    fc.assert(
      fc.property(told, prices, (said, price) => {
        expect(tokenCost(read(said), price) >= 0n).to.equal(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('never falls when a call uses more', () => {
    fc.assert(
      fc.property(usages, usages, prices, (usage, more, price) => {
        const grown = addUsage(usage, more);
        expect(tokenCost(grown, price) >= tokenCost(usage, price)).to.equal(true);
      }),
    );
  });
});

describe('callsCost', () => {
  const calls = fc.array(fc.record({ usage: usagesOf(100_000), card: rateCards }), {
    maxLength: 4,
  });

  it('is a sum of integers in which every token counts once, and is rounded once', () => {
    fc.assert(
      fc.property(calls, (all) => {
        let whole = 0n;
        let millionths = 0n;
        for (const { usage, card } of all) {
          const { input_nano_per_million: input, output_nano_per_million: output } = card;
          const write = card.cache_write_nano_per_million ?? input;
          const of_class = {
            cached_tokens: card.cached_input_nano_per_million ?? input,
            cache_write_tokens: write,
            cache_write_1h_tokens: card.cache_write_1h_nano_per_million ?? write,
            audio_input_tokens: card.audio_input_nano_per_million ?? input,
            image_input_tokens: card.image_input_nano_per_million ?? input,
          };
          let rest = usage.prompt_tokens;
          for (const name of INPUT_CLASSES) {
            rest -= usage[name] ?? 0;
            millionths += BigInt(usage[name] ?? 0) * of_class[name];
          }
          expect(rest).to.be.at.least(0);
          const { audio_output_tokens: spoken = 0, image_output_tokens: drawn = 0 } = usage;
          const text = usage.completion_tokens - spoken - drawn;
          expect(text).to.be.at.least(0);
          millionths += BigInt(rest) * input;
          millionths += BigInt(text) * output;
          millionths += BigInt(spoken) * (card.audio_output_nano_per_million ?? output);
          millionths += BigInt(drawn) * (card.image_output_nano_per_million ?? output);
          whole += card.per_request ?? 0n;
          for (const [name, count] of Object.entries(usage.tool_calls ?? {})) {
            for (let call = 0; call < count; call += 1)
              whole += card.per_tool_call?.get(name) ?? 0n;
          }
        }
        const rounding = (callsCost(all) - whole) * MILLION - millionths;
        expect(rounding >= 0n && rounding < MILLION, `${rounding}`).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });

  it('is what calls cost without caches less what these saved, whatever card each has', () => {
    fc.assert(
      fc.property(calls, (all) => {
        const none = { cached_tokens: 0, cache_write_tokens: 0, cache_write_1h_tokens: 0 };
        const plain = all.map(({ usage, card }) => ({ usage: { ...usage, ...none }, card }));
        const { saved_nano = 0n } = cacheSavings(all);
        expect(callsCost(all)).to.equal(callsCost(plain) - saved_nano);
      }),
      { numRuns: 500 },
    );
  });
});

describe('maxTokenCost', () => {
  const usage = { prompt_tokens: 10, completion_tokens: 10 };
  const dear = 9n * MILLION;
  const KNOWN: [string, TokenUsage, Price, bigint][] = [
    ['input and output', usage, priceOf(MILLION, 2n * MILLION), 10n + 20n],
    [
      'text at what writing it into a cache costs',
      usage,
      { ...priceOf(MILLION, 0n), cache_write_nano_per_million: dear },
      90n,
    ],
    [
      'text at what writing it into a cache for an hour costs',
      usage,
      {
        ...priceOf(MILLION, 0n),
        cache_write_nano_per_million: MILLION,
        cache_write_1h_nano_per_million: dear,
      },
      90n,
    ],
    [
      'text at what reading it from a cache costs',
      usage,
      { ...priceOf(MILLION, 0n), cached_input_nano_per_million: dear },
      90n,
    ],
    [
      'text at its own price, where that of a cache is lower',
      usage,
      { ...priceOf(MILLION, 0n), cached_input_nano_per_million: 1n },
      10n,
    ],
    [
      'sound at the price of sound, and the rest at that of text',
      { ...usage, audio_input_tokens: 4 },
      { ...priceOf(MILLION, 0n), audio_input_nano_per_million: dear },
      6n + 36n,
    ],
    [
      'sound as text, where that is dearer',
      { ...usage, audio_input_tokens: 4 },
      { ...priceOf(MILLION, 0n), audio_input_nano_per_million: 1n },
      10n,
    ],
    [
      'images at the price of images, and the rest at that of text',
      { ...usage, image_input_tokens: 4 },
      { ...priceOf(MILLION, 0n), image_input_nano_per_million: dear },
      6n + 36n,
    ],
    [
      'the answer as images, where that is dearest',
      usage,
      {
        ...priceOf(0n, MILLION),
        audio_output_nano_per_million: 2n * MILLION,
        image_output_nano_per_million: dear,
      },
      90n,
    ],
    [
      'the answer as sound, where that is dearer',
      usage,
      { ...priceOf(0n, MILLION), audio_output_nano_per_million: dear },
      90n,
    ],
    [
      'the answer as text, where that is dearer',
      usage,
      { ...priceOf(0n, MILLION), audio_output_nano_per_million: 1n },
      10n,
    ],
  ];
  for (const [name, most, price, cost] of KNOWN) {
    it(`takes ${name}`, () => {
      expect(maxTokenCost(most, price)).to.equal(cost);
    });
  }

  it('is never below what the tokens cost, whichever classes they turn out to be of', () => {
    fc.assert(
      fc.property(told, prices, (said, price) => {
        const used = read(said);
        const { prompt_tokens, completion_tokens } = used;
        const { audio_input_tokens = 0, image_input_tokens = 0 } = used;
        const most = { prompt_tokens, completion_tokens, audio_input_tokens, image_input_tokens };
        expect(maxTokenCost(most, price) >= tokenCost(used, price)).to.equal(true);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('addUsage', () => {
  it('adds up the classes that either call names, and names no other', () => {
    const one = { prompt_tokens: 1, completion_tokens: 2, cached_tokens: 1, reasoning_tokens: 2 };
    const other = { prompt_tokens: 10, completion_tokens: 20, cached_tokens: 5 };
    expect(addUsage(one, other)).to.deep.equal({
      prompt_tokens: 11,
      completion_tokens: 22,
      cached_tokens: 6,
      reasoning_tokens: 2,
    });
  });

  it('adds up the calls of tools, and names a tier only if both calls name it', () => {
    const counts = { prompt_tokens: 1, completion_tokens: 1 };
    const one = { ...counts, tier: 'flex', tool_calls: { web_search: 2 } };
    const other = { ...counts, tier: 'flex', tool_calls: { web_search: 1, file_search: 3 } };
    const { tier, tool_calls } = addUsage(one, other);
    expect({ tier, tool_calls }).to.deep.equal({
      tier: 'flex',
      tool_calls: { web_search: 3, file_search: 3 },
    });
    expect(addUsage(one, { ...other, tier: 'priority' })).to.not.have.property('tier');
    expect(addUsage(one, counts)).to.not.have.property('tier');
    expect(addUsage(NO_TOKENS, one)).to.deep.equal(one);
    expect(addUsage(one, counts).tool_calls).to.deep.equal({ web_search: 2 });
  });
});

describe('isPlausible', () => {
  const limits = { max_tokens: undefined, context: 1_000, image_tokens: undefined };
  const KNOWN: [string, number, number, number | undefined, number, boolean][] = [
    ['four contexts', 4_000, 4_000, 1_000, 1, true],
    ['more than four contexts in', 4_001, 0, 1_000, 1, false],
    ['more than four contexts out', 0, 4_001, 1_000, 1, false],
    ['four contexts for each answer', 8_000, 8_000, 1_000, 2, true],
    ['ten million where no context is known', 10_000_000, 10_000_000, undefined, 1, true],
    ['more than that', 10_000_001, 0, undefined, 1, false],
  ];
  for (const [name, prompt_tokens, completion_tokens, context, answers, is] of KNOWN) {
    it(`is ${is} for ${name}`, () => {
      const usage = { prompt_tokens, completion_tokens };
      expect(isPlausible(usage, { ...limits, context }, answers)).to.equal(is);
    });
  }
});
