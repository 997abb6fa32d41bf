import { expect } from 'chai';
import type { Price } from '../../src/core/model.js';
import type { TokenUsage } from '../../src/core/usage.js';
import { unpricedUnits } from '../../src/billing/unpriced.js';

const PRICE: Price = { free: false, input_nano_per_million: 1n, output_nano_per_million: 2n };
const USAGE: TokenUsage = { prompt_tokens: 9, completion_tokens: 9 };

const CASES: [about: string, usage: Partial<TokenUsage>, price: Partial<Price>, units: string[]][] =
  [
    ['nothing, where all tokens are plain', { cached_tokens: 0, reasoning_tokens: 5 }, {}, []],
    [
      'each class without a price of its own',
      { cached_tokens: 1, cache_write_tokens: 1, audio_input_tokens: 1, audio_output_tokens: 1 },
      { audio_output_nano_per_million: 3n },
      ['cached_input_per_million', 'cache_write_per_million', 'audio_input_per_million'],
    ],
    ['images that were made', { image_output_tokens: 1 }, {}, ['image_output_per_million']],
    ['no images that were read, which cost as much as text', { image_input_tokens: 1 }, {}, []],
    [
      'writes for an hour, where only the short ones have a price',
      { cache_write_1h_tokens: 1 },
      { cache_write_nano_per_million: 1n },
      ['cache_write_1h_per_million'],
    ],
    [
      'a class that has a price in this tier alone',
      { cached_tokens: 1, tier: 'flex' },
      { tiers: new Map([['flex', { cached_input_nano_per_million: 1n }]]) },
      [],
    ],
    ['a tier without prices', { tier: 'priority' }, {}, ['tiers.priority']],
    ['no tier that is plain', { tier: 'default' }, {}, []],
    ['no tier that is plain, in the word of a cloud', { tier: 'on_demand' }, {}, []],
    [
      'a tool without a price',
      { tool_calls: { web_search: 2, x_search: 1 } },
      { per_tool_call: new Map([['x_search', 1n]]) },
      ['per_tool_call.web_search'],
    ],
    ['nothing of a free model', { tier: 'priority', cached_tokens: 1 }, { free: true }, []],
    [
      'nothing where tokens cost nothing',
      { cached_tokens: 1 },
      { input_nano_per_million: 0n, output_nano_per_million: 0n },
      [],
    ],
  ];

describe('what no price covers', () => {
  for (const [about, usage, price, units] of CASES) {
    it(`is ${about}`, () => {
      expect(unpricedUnits({ ...USAGE, ...usage }, { ...PRICE, ...price })).to.deep.equal(units);
    });
  }
});
