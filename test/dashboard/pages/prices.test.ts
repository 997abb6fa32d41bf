import { expect } from 'chai';
import { priceInShort, pricesOf } from '../../../src/dashboard/pages/prices.js';
import type { Model, Price } from '../../../src/core/model.js';
import { modelAt, PRICE } from '../../billing/helpers/terms.js';

function priced(price: Partial<Price>): Model {
  return modelAt([{ ...PRICE, ...price }]);
}

const HOURS = { zone: 'UTC', output_nano_per_million: 300_000_000n };
const NO_TOKENS = { input_nano_per_million: 0n, output_nano_per_million: 0n };

describe('the prices of a model in words', () => {
  it('have a line for each class of tokens with a price of its own, after what it is part of', () => {
    const model = priced({
      cached_input_nano_per_million: 75_000_000n,
      cache_write_nano_per_million: 187_500_000n,
      audio_input_nano_per_million: 0n,
      audio_output_nano_per_million: 20_000_000_000n,
    });
    expect(pricesOf(model)).to.deep.equal([
      ['Input', '$0.15 per million tokens'],
      ['Cached input', '$0.075 per million tokens'],
      ['Cache writes', '$0.1875 per million tokens'],
      ['Audio input', '$0.00 per million tokens'],
      ['Output', '$0.60 per million tokens'],
      ['Audio output', '$20.00 per million tokens'],
    ]);
    expect(priceInShort(model)).to.equal('$0.15 in · $0.60 out, per 1M tokens');
  });

  it('name the length of a prompt above which they are other ones', () => {
    const long_prompt = { above_tokens: 200_000, input_nano_per_million: 300_000_000n };
    expect(pricesOf(priced({ long_prompt })).at(-1)).to.deep.equal([
      'Input, prompt above 200,000 tokens',
      '$0.30 per million tokens',
    ]);
  });

  it('name the tier, the hours, the tools and the fee', () => {
    const long_prompt = { above_tokens: 200_000, input_nano_per_million: 300_000_000n };
    const model = priced({
      tiers: new Map([['flex', { input_nano_per_million: 75_000_000n, long_prompt }]]),
      off_peak: [
        { ...HOURS, days: ['sat', 'sun'], from_minute: 0, to_minute: 1_440 },
        { ...HOURS, days: ['fri'], from_minute: 1_320, to_minute: 360 },
        { ...HOURS, from_minute: 990, to_minute: 30 },
      ],
      per_tool_call: new Map([['web_search', 10_000_000n]]),
      per_request: 1_000_000n,
    });
    expect(pricesOf(model).slice(2)).to.deep.equal([
      ['Input, tier flex', '$0.075 per million tokens'],
      ['Input, tier flex, prompt above 200,000 tokens', '$0.30 per million tokens'],
      ['Output, on Sat, Sun UTC', '$0.30 per million tokens'],
      ['Output, on Fri from 22:00 to 06:00 UTC', '$0.30 per million tokens'],
      ['Output, from 16:30 to 00:30 UTC', '$0.30 per million tokens'],
      ['Call of web_search', '$0.01'],
      ['Request', '$0.001'],
    ]);
  });

  const KNOWN: [string, Partial<Price>, string[]][] = [
    ['input and output alone', {}, ['Input', 'Output']],
    ['input alone', { input_only: true, output_nano_per_million: 0n }, ['Input']],
    ['images alone', { ...NO_TOKENS, per_image: new Map([['any', 40_000_000n]]) }, ['Image']],
    [
      'sound alone',
      { ...NO_TOKENS, per_million_characters: 1n, per_audio_minute: 1n },
      ['Speech', 'Transcription'],
    ],
    ['nothing', { free: true }, ['Any call']],
  ];
  it('are short where there is only sound', () => {
    const short = priceInShort(priced({ ...NO_TOKENS, per_audio_minute: 6_000_000n }));
    expect(short).to.equal('$0.006 a minute');
  });

  for (const [name, price, lines] of KNOWN) {
    it(`have a line for ${lines.join(' and for ')} where a model costs ${name}`, () => {
      expect(pricesOf(priced(price)).map(([line]) => line)).to.deep.equal(lines);
    });
  }
});
