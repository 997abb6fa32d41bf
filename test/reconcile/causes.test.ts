import { expect } from 'chai';
import fc from 'fast-check';
import {
  addCharges,
  nothingBilled,
  nothingCharged,
  type Billed,
  type BilledDay,
  type Charged,
  type TokensByClass,
} from '../../src/reconcile/bill-figures.js';
import { EXPORT_CLASSES } from '../../src/core/provider-export.js';
import { causesOf, type ExportFacts, type PriceByClass } from '../../src/reconcile/causes.js';

const FACTS: ExportFacts = {
  classes: ['input', 'cached_input', 'cache_write', 'output'],
  costed: [],
  has_costs: true,
  has_calls: true,
};
const PRICE: PriceByClass = { input: 3_000_000_000n, output: 15_000_000_000n };

function tokensOf(tokens: Partial<TokensByClass>): TokensByClass {
  return { ...nothingBilled().tokens, ...tokens };
}

/** A day on which both sides agree, but for what is given. */
function day(billed: Partial<Billed>, charged: Partial<Charged> = {}, at = 1): BilledDay {
  const same = {
    calls: 10,
    tokens: tokensOf({ input: 1_000_000, output: 100_000 }),
    cost_nano: 4_500_000_000n,
  };
  return {
    day: `2026-10-${String(at).padStart(2, '0')}`,
    billed: { ...nothingBilled(), ...same, ...billed },
    charged: { ...nothingCharged(), ...same, ...charged },
  };
}

function told(days: BilledDay[], facts = FACTS, price: PriceByClass | undefined = PRICE) {
  return causesOf(days, facts, price).map(({ cause, difference }) => [cause, difference]);
}

const MORE = tokensOf({ input: 2_000_000, output: 100_000 });
const DEAR = 7_500_000_000n;

it('charges are counted in the classes of the bill, each token once', () => {
  const spent = {
    day: '2026-10-01',
    provider: 'up',
    model: 'm',
    upstream_model: null,
    calls: 1,
    cost_nano: 1n,
    estimated: false,
    prompt_tokens: 100,
    cached_tokens: 10,
    cache_write_tokens: 5,
    cache_write_1h_tokens: 0,
    audio_input_tokens: 3,
    image_input_tokens: 20,
    completion_tokens: 50,
    audio_output_tokens: 4,
    image_output_tokens: 30,
    reasoning_tokens: 9,
  };
  const apart = nothingCharged();
  addCharges(apart, spent, EXPORT_CLASSES);
  const parts = { cached_input: 10, cache_write: 5, audio_input: 3, image_input: 20 };
  const made = { output: 16, audio_output: 4, image_output: 30 };
  expect(apart.tokens).to.deep.equal(tokensOf({ input: 62, ...parts, ...made }));
  const together = nothingCharged();
  addCharges(together, spent, ['input', 'output']);
  expect(together.tokens).to.deep.equal(tokensOf({ input: 100, output: 50 }));
});

describe('the likely causes of a difference', () => {
  it('are none where nothing differs, whatever else the days have', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ input: fc.nat(), output: fc.nat(), calls: fc.nat(99) })),
        fc.boolean(),
        (days, has_costs) => {
          const both = days.map(({ input, output, calls }, at) => {
            const tokens = tokensOf({ input, output });
            const figures = { calls: calls + 1, tokens, cost_nano: BigInt(input) };
            const estimated = { calls: 1, tokens: 9 };
            return day(figures, { ...figures, estimated, aborted: calls }, at);
          });
          expect(told(both, { ...FACTS, has_costs })).to.deep.equal([]);
        },
      ),
    );
  });

  it('are calls that failed where the bill has so many more, else calls outside', () => {
    const more = { calls: 12, tokens: MORE, cost_nano: DEAR };
    expect(told([day(more)])).to.deep.equal([['calls_outside', '3.00']]);
    expect(told([day(more, { aborted: 1 })])).to.deep.equal([['calls_outside', '3.00']]);
    expect(told([day(more, { aborted: 2 })])).to.deep.equal([['aborted_calls', '3.00']]);
  });

  it('are a day that only one side has', () => {
    const none = { calls: 0, tokens: tokensOf({}), cost_nano: 0n };
    expect(told([day({}, none)])).to.deep.equal([['calls_outside', '4.50']]);
    expect(told([day({}, { ...none, aborted: 3 })])).to.deep.equal([['aborted_calls', '4.50']]);
    expect(told([day(none)])).to.deep.equal([['missing_in_export', '-4.50']]);
    const fewer = { calls: 9, tokens: tokensOf({ input: 900_000, output: 90_000 }) };
    expect(told([day({ ...fewer, cost_nano: 4_050_000_000n })])).to.deep.equal([
      ['missing_in_export', '-0.45'],
    ]);
  });

  it('are estimates where as many calls have other tokens, if there are any', () => {
    const more = { tokens: MORE, cost_nano: DEAR };
    const estimated = { calls: 2, tokens: 400_000 };
    expect(told([day(more, { estimated })])).to.deep.equal([['estimates', '3.00']]);
    expect(told([day(more)])).to.deep.equal([['other_counts', '3.00']]);
    const uncounted = { ...FACTS, has_calls: false };
    expect(told([day(more, { estimated })], uncounted)).to.deep.equal([['estimates', '3.00']]);
    const small = { calls: 1, tokens: 100 };
    expect(told([day(more, { estimated: small })], uncounted)).to.deep.equal([
      ['calls_outside', '3.00'],
    ]);
  });

  it('are a class that the file has no price for, by its sign or its own cost', () => {
    const tokens = tokensOf({ input: 600_000, cached_input: 400_000, output: 100_000 });
    const cheap = { tokens, cost_nano: 3_420_000_000n };
    expect(told([day(cheap, { tokens })])).to.deep.equal([['class_without_price', '-1.08']]);
    const by_class = { cost_by_class: { cached_input: 120_000_000n } };
    expect(told([day({ ...cheap, ...by_class }, { tokens })])).to.deep.equal([
      ['class_without_price', '-1.08'],
    ]);
    const priced = { ...PRICE, cached_input: 600_000_000n };
    expect(told([day(cheap, { tokens })], FACTS, priced)).to.deep.equal([['stale_price', '-1.08']]);
    const [cause] = causesOf([day(cheap, { tokens })], FACTS, PRICE);
    expect(cause?.text).to.equal(
      'a class without a price: cached_input, which gateway.yaml has no price for ' +
        '(400000 tokens), on 2026-10-01',
    );
  });

  it('are a class that the ledger does not count, also where the costs agree', () => {
    const tokens = tokensOf({ input: 600_000, cache_write: 400_000, output: 100_000 });
    expect(told([day({ tokens, cost_nano: 4_800_000_000n })])).to.deep.equal([
      ['class_without_price', '0.30'],
    ]);
    expect(told([day({ tokens })])).to.deep.equal([['class_without_price', '0.00']]);
    const facts = { ...FACTS, has_costs: false };
    expect(told([day({ tokens, cost_nano: 0n })], facts)).to.deep.equal([
      ['class_without_price', null],
    ]);
  });

  it('are a stale price, with both prices where the bill has them', () => {
    const cost_by_class = { input: 3_000_000_000n, output: 1_800_000_000n };
    const dear = { cost_nano: 4_800_000_000n, cost_by_class };
    const [cause, ...others] = causesOf([day({}), day(dear, {}, 16)], FACTS, PRICE);
    expect(others).to.deep.equal([]);
    expect(cause).to.deep.equal({
      cause: 'stale_price',
      difference: '0.30',
      first_day: '2026-10-16',
      last_day: '2026-10-16',
      days: 1,
      text: 'a stale price: output $18.00 a million on the bill, $15.00 here, on 2026-10-16',
    });
  });

  it('are two on one day: calls outside at a price that is stale too', () => {
    const more = { calls: 11, tokens: MORE, cost_nano: 9_000_000_000n };
    expect(told([day(more)])).to.deep.equal([
      ['calls_outside', '3.00'],
      ['stale_price', '1.50'],
    ]);
  });

  it('are told from costs alone: one factor is a price, one day is not', () => {
    const facts = { classes: [], costed: [], has_costs: true, has_calls: false };
    const bare = (nano: bigint, at: number, more: Partial<Charged> = {}) =>
      day({ calls: 0, tokens: tokensOf({}), cost_nano: nano }, more, at);
    const dear = 5_400_000_000n;
    expect(told([bare(dear, 1), bare(dear, 2)], facts)).to.deep.equal([['stale_price', '1.80']]);
    expect(told([bare(dear, 1), bare(4_500_000_000n, 2)], facts)).to.deep.equal([
      ['calls_outside', '0.90'],
    ]);
    const estimated = { calls: 1, tokens: 5 };
    expect(told([bare(dear, 1, { estimated })], facts)).to.deep.equal([['estimates', '0.90']]);
    expect(told([bare(4_000_000_000n, 1)], facts)).to.deep.equal([['missing_in_export', '-0.50']]);
  });

  it('are told from costs by class: of one that is dearer, and of one that the ledger has not', () => {
    const classes = ['input', 'cached_input', 'output'] as const;
    const facts = { classes: [], costed: classes, has_costs: true, has_calls: false };
    const costs = (cost_by_class: Billed['cost_by_class'], at: number, calls = 0) => {
      const cost_nano = Object.values(cost_by_class).reduce((sum, nano) => sum + nano, 0n);
      const more = { estimated: { calls, tokens: calls } };
      return day({ calls: 0, tokens: tokensOf({}), cost_nano, cost_by_class }, more, at);
    };
    const [input, output] = [3_000_000_000n, 1_500_000_000n];
    const same = costs({ input, output }, 1);
    // The days differ by other factors than each class.
    const dear = [
      costs({ input, output: 1_800_000_000n }, 2),
      costs({ input, output: 1_800_000_000n }, 3, 1),
    ];
    expect(told([same, ...dear], facts)).to.deep.equal([['stale_price', '0.60']]);
    const both = [2, 3].map((at) => costs({ input: input * BigInt(at), output: output * 2n }, at));
    expect(told([same, ...both], facts)).to.deep.equal([['calls_outside', '12.00']]);
    const guessed = [2, 3].map((at) => costs({ input, output: 1_800_000_000n }, at, 1));
    expect(told([same, ...guessed], facts)).to.deep.equal([['estimates', '0.60']]);
    const cached = costs({ input, output, cached_input: 300_000_000n }, 2);
    const [cause] = causesOf([same, cached], facts, PRICE);
    expect(cause?.text).to.equal(
      'a class without a price: cached_input, of which the bill has $0.30 and the ledger none, ' +
        'on 2026-10-02',
    );
    expect(told([same, cached], facts)).to.deep.equal([['class_without_price', '0.30']]);
  });

  it('explain all that differs, whatever differs', () => {
    const side = fc.record({
      calls: fc.integer({ min: 1, max: 50 }),
      tokens: fc
        .record({ input: fc.nat(10 ** 7), cached_input: fc.nat(10 ** 6), output: fc.nat(10 ** 6) })
        .map(tokensOf),
      cost_nano: fc.bigInt({ min: 10n ** 9n, max: 10n ** 11n }),
    });
    fc.assert(
      fc.property(
        side,
        side,
        fc.boolean(),
        fc.boolean(),
        (billed, charged, has_calls, has_price) => {
          const both = day(billed, charged);
          const facts = { ...FACTS, has_calls };
          const causes = causesOf([both], facts, has_price ? PRICE : undefined);
          const explained = causes.reduce((sum, one) => sum + Number(one.difference), 0);
          const difference = Number(billed.cost_nano - charged.cost_nano) / 1e9;
          // What rounding and other small differences make of a day is no cause of its own.
          const slack = (Number(billed.cost_nano) / 1e9) * 0.005 + 1e-6;
          expect(Math.abs(explained - difference)).to.be.at.most(slack);
        },
      ),
      { numRuns: 300 },
    );
  });
});
