import { expect } from 'chai';
import fc from 'fast-check';
import { callsCost } from '../../src/billing/bill.js';
import { allCards, cardOf, cardsOf } from '../../src/billing/rate-card.js';
import { WEEKDAYS, type OffPeakPrices, type Price, type Weekday } from '../../src/core/model.js';
import { shippedPrices } from '../../src/config/list-prices.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { isLong } from '../helpers/long.js';
import { minute, rateCards, usagesOf } from './helpers/rate-cards.js';

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
    off_peak: [{ ...NIGHT, input_nano_per_million: 30n, output_nano_per_million: 300n }],
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
      const off_peak = [{ ...NIGHT, ...hours, input_nano_per_million: 1n }];
      const card = cardOf({ ...PLAIN, off_peak }, { began_ms: at(time), prompt_tokens: 1 });
      expect(card.input_nano_per_million).to.equal(isWithin ? 1n : 100n);
    });
  }

  // DeepSeek doubles its prices from 01:00 to 04:00 and from 06:00 to 10:00 UTC, Monday to Friday.
  const HALF = { input_nano_per_million: 50n };
  const WEEK: Price = {
    ...PLAIN,
    off_peak: [
      { days: ['sat', 'sun'], from_minute: 0, to_minute: 1_440, zone: 'UTC', ...HALF },
      { from_minute: 600, to_minute: 60, zone: 'UTC', ...HALF },
      { from_minute: 240, to_minute: 360, zone: 'UTC', ...HALF },
    ],
  };
  const listed = async () => {
    const target = { provider: { manifest: 'deepseek' }, model: 'deepseek-flash' };
    return (await shippedPrices()).find(target, MODALITIES)?.price;
  };
  const WEEKS: [string, () => Promise<Price | undefined>][] = [
    ['by several hours and days', () => Promise.resolve(WEEK)],
    ['by the list prices of DeepSeek', listed],
  ];
  for (const [name, find] of WEEKS) {
    it(`is that of each hour of the week ${name}`, async () => {
      const week = await find();
      if (!week) return expect.fail('no price');
      const plain = week.input_nano_per_million;
      for (let hour = 0; hour < 168; hour++) {
        // A Monday.
        const began_ms = Date.parse('2026-08-17T00:30:00Z') + hour * 3_600_000;
        const card = cardOf(week, { began_ms, prompt_tokens: 1 });
        const isPeak = hour < 120 && [1, 2, 3, 6, 7, 8, 9].includes(hour % 24);
        expect(card.input_nano_per_million, `hour ${hour}`).to.equal(isPeak ? plain : plain / 2n);
      }
    });
  }

  const zone = fc.constantFrom('UTC', 'America/New_York', 'Europe/Zurich', 'Australia/Lord_Howe');
  const days = fc.subarray<Weekday>([...WEEKDAYS], { minLength: 1 });
  const window = fc.oneof(
    fc.record({ from_minute: minute, to_minute: minute, zone }),
    fc.record({ days, from_minute: minute, to_minute: minute, zone }),
    fc.record({ days, from_minute: fc.constant(0), to_minute: fc.constant(1_440), zone }),
  );
  const windows = fc.array(
    window.filter(({ from_minute, to_minute }) => from_minute !== to_minute),
    { minLength: 1, maxLength: 4 },
  );
  /** No divisor of a day, so that a run has other times on each day. */
  const STEP = 13;
  // In these weeks, the clocks change in Zurich, in New York and on Lord Howe Island.
  for (const start of ['2026-03-22', '2026-10-20']) {
    it(`is by clocks and calendar in each minute of the two weeks from ${start}`, () => {
      const first = Date.parse(`${start}T00:00:59.999Z`);
      const times = Array.from({ length: 14 * 1_440 }, (_, at) => first + at * 60_000);
      const texts = new Map<string, string[]>();
      const local = (timeZone: string): string[] => {
        const known = texts.get(timeZone);
        if (known) return known;
        const clock = new Intl.DateTimeFormat('sv-SE', {
          timeZone,
          dateStyle: 'short',
          timeStyle: 'short',
        });
        const all = times.map((time) => clock.format(time));
        texts.set(timeZone, all);
        return all;
      };
      fc.assert(
        fc.property(windows, fc.nat({ max: STEP - 1 }), (given, offset) => {
          const off_peak = given.map((one, at) => ({ ...one, input_nano_per_million: BigInt(at) }));
          const spans = given.map((one) => spansOf(one, first));
          times.forEach((began_ms, minute) => {
            if (minute % STEP !== offset) return;
            const at = given.findIndex((one, number) => {
              const now = local(one.zone)[minute] ?? '';
              return spans[number]?.some(([from, to]) => from <= now && now < to);
            });
            const card = cardOf({ ...PLAIN, off_peak }, { began_ms, prompt_tokens: 1 });
            if (card.input_nano_per_million === (at === -1 ? 100n : BigInt(at))) return;
            expect.fail(`${new Date(began_ms).toISOString()} is in window ${at}`);
          });
        }),
        { numRuns: isLong ? 30 : 10 },
      );
    });
  }

  it('is not off-peak where nothing says when the call began', () => {
    expect(cardOf(price, { prompt_tokens: 1 }).input_nano_per_million).to.equal(100n);
  });
});

/** From when to when the times hold on each day of two weeks, as local clocks show it. */
function spansOf({ days, from_minute, to_minute }: OffPeakPrices, first: number) {
  const end = to_minute > from_minute ? to_minute : to_minute + 1_440;
  const midnight = first - (first % 86_400_000);
  return Array.from({ length: 18 }, (_, at): [from: string, to: string][] => {
    const day = midnight + (at - 2) * 86_400_000;
    const name = new Date(day).toUTCString().slice(0, 3).toLowerCase();
    const isOn = !days || days.some((one) => one === name);
    return isOn ? [[wallText(day, from_minute), wallText(day, end)]] : [];
  }).flat();
}

/** `2026-03-29 02:30`, so many minutes after a midnight. */
function wallText(midnight: number, minutes: number): string {
  return new Date(midnight + minutes * 60_000).toISOString().slice(0, 16).replace('T', ' ');
}

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
      { numRuns: isLong ? 500 : 150 },
    );
  });
});
