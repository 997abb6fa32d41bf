import { expect } from 'chai';
import fc from 'fast-check';
import { callsCost } from '../../src/billing/bill.js';
import { allCards, cardOf, cardsOf } from '../../src/billing/rate-card.js';
import type { Price } from '../../src/core/model.js';
import { rateCards, usagesOf } from './helpers/rate-cards.js';

const PLAIN: Price = {
  free: false,
  input_nano_per_million: 100n,
  cached_input_nano_per_million: 10n,
  output_nano_per_million: 500n,
};
const NIGHT = { from_minute: 16 * 60 + 30, to_minute: 30, zone: 'UTC' };

function at(time: string): number {
  return Date.parse(`2026-07-01T${time}Z`);
}

describe('the card of a call', () => {
  const price: Price = {
    ...PLAIN,
    tiers: new Map([
      ['flex', { input_nano_per_million: 50n }],
      [
        'priority',
        {
          input_nano_per_million: 200n,
          long_prompt: { above_tokens: 10, input_nano_per_million: 400n },
        },
      ],
    ]),
    off_peak: { ...NIGHT, input_nano_per_million: 30n, output_nano_per_million: 300n },
    long_prompt: { above_tokens: 20, output_nano_per_million: 900n },
  };
  const day = at('12:00:00');
  const night = at('20:00:00');
  const KNOWN: [string, string | undefined, number, number, bigint, bigint][] = [
    ['the plain prices', undefined, day, 1, 100n, 500n],
    [
      'the prices of its tier, and the plain ones that the tier does not give',
      'flex',
      day,
      1,
      50n,
      500n,
    ],
    ['the plain prices in a tier that has none', 'scale', day, 1, 100n, 500n],
    ['the prices of its hour', undefined, night, 1, 30n, 300n],
    ['the prices of its hour over those of its tier', 'priority', night, 1, 30n, 300n],
    ['the prices of a long prompt', undefined, day, 21, 100n, 900n],
    ['the prices of a long prompt over those of its hour', undefined, night, 21, 30n, 900n],
    ['the long prompts of its tier in place of the plain ones', 'priority', day, 11, 400n, 500n],
    ['the plain long prompts where its tier has none', 'flex', day, 21, 50n, 900n],
  ];
  for (const [name, tier, began_ms, prompt_tokens, input, output] of KNOWN) {
    it(`has ${name}`, () => {
      const card = cardOf(price, { tier, began_ms, prompt_tokens });
      expect(card.input_nano_per_million).to.equal(input);
      expect(card.output_nano_per_million).to.equal(output);
      expect(card.cached_input_nano_per_million).to.equal(10n);
    });
  }

  const HOURS: [string, object, string, boolean][] = [
    ['before the first minute', {}, '16:29:59.999', false],
    ['at the first minute', {}, '16:30:00', true],
    ['at midnight', {}, '00:00:00', true],
    ['in the last minute', {}, '00:29:59.999', true],
    ['at the end', {}, '00:30:00', false],
    ['in hours of one day', { from_minute: 60, to_minute: 120 }, '01:00:00', true],
    ['after hours of one day', { from_minute: 60, to_minute: 120 }, '02:00:00', false],
    // 16:30 in Shanghai is 08:30 of UTC.
    ['by the clocks of another zone', { zone: 'Asia/Shanghai' }, '08:30:00', true],
    ['before the hours of another zone', { zone: 'Asia/Shanghai' }, '08:29:59', false],
    // Zurich is two hours ahead in summer.
    ['in summer time', { zone: 'Europe/Zurich' }, '14:30:00', true],
    ['in summer time, before it', { zone: 'Europe/Zurich' }, '14:29:00', false],
  ];
  for (const [name, hours, time, isWithin] of HOURS) {
    it(`is ${isWithin ? '' : 'not '}off-peak ${name}`, () => {
      const off_peak = { ...NIGHT, ...hours, input_nano_per_million: 1n };
      const card = cardOf({ ...PLAIN, off_peak }, { began_ms: at(time), prompt_tokens: 1 });
      expect(card.input_nano_per_million).to.equal(isWithin ? 1n : 100n);
    });
  }

  it('is not off-peak where nothing says when the call began', () => {
    expect(cardOf(price, { prompt_tokens: 1 }).input_nano_per_million).to.equal(100n);
  });
});

describe('the cards that may come', () => {
  const tiers = new Map([
    ['flex', { input_nano_per_million: 50n }],
    ['priority', { input_nano_per_million: 200n }],
  ]);
  const KNOWN: [string | undefined, bigint[]][] = [
    [undefined, [100n, 50n, 200n]],
    ['scale', [100n, 50n, 200n]],
    ['flex', [100n, 50n]],
    ['priority', [100n, 200n]],
    ['default', [100n]],
    ['standard', [100n]],
    ['standard_only', [100n]],
  ];
  for (const [tier, inputs] of KNOWN) {
    it(`are ${inputs.length} where the call asks for ${tier ?? 'no tier'}`, () => {
      const cards = cardsOf({ ...PLAIN, tiers }, { tier, prompt_tokens: 1 });
      expect(cards.map((card) => card.input_nano_per_million)).to.deep.equal(inputs);
    });
  }

  it('have the one that comes, whatever the tier, the hour and the prompt', () => {
    const facts = fc.record({
      tier: fc.constantFrom(undefined, 'flex', 'priority', 'default', 'scale'),
      began_ms: fc.nat({ max: 2 ** 41 }),
      prompt_tokens: fc.nat({ max: 1_000 }),
    });
    fc.assert(
      fc.property(rateCards, facts, usagesOf(1_000), (price, { tier, ...rest }, usage) => {
        const cost = callsCost([{ usage, card: cardOf(price, { tier, ...rest }) }]);
        const named = cardsOf(price, { tier, ...rest }).map((card) => callsCost([{ usage, card }]));
        const all = allCards(price).map((card) => callsCost([{ usage, card }]));
        expect(named).to.include(cost);
        expect(all).to.include(cost);
      }),
      { numRuns: 500 },
    );
  });
});
