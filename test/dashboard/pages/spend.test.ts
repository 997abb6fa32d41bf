import { expect } from 'chai';
import fc from 'fast-check';
import { ceiling, spendOf } from '../../../src/dashboard/pages/spend.js';
import { usageRange } from '../../../src/dashboard/views/usage.js';
import { NOTHING_USED, type UsageRow } from '../../../src/store/ledger/usage.js';

const RANGE = usageRange({ from: '2026-11-01', to: '2026-11-03' }, 0);

function row(day: string, model: string, cost_nano: bigint): UsageRow {
  return { ...NOTHING_USED, day, model, key_id: null, calls: 1, cost_nano };
}

describe('spend for the charts', () => {
  it('has every day, and the dearest model first', () => {
    const spend = spendOf([row('2026-11-01', 'a', 1n), row('2026-11-03', 'b', 5n)], RANGE);
    expect(spend.models).to.deep.equal([
      { name: 'b', series: 0, nano: 5n },
      { name: 'a', series: 1, nano: 1n },
    ]);
    expect(spend.days).to.deep.equal([
      { day: '2026-11-01', nano: 1n, parts: [{ name: 'a', series: 1, nano: 1n }] },
      { day: '2026-11-02', nano: 0n, parts: [] },
      { day: '2026-11-03', nano: 5n, parts: [{ name: 'b', series: 0, nano: 5n }] },
    ]);
    expect(spend).to.include({ nano: 6n, calls: 2 });
  });

  it('puts the models past the sixth together', () => {
    const rows = Array.from('abcdefghi').map((model, at) =>
      row('2026-11-02', model, BigInt(9 - at)),
    );
    const { models, nano } = spendOf(rows, RANGE);
    expect(models.map(({ name }) => name)).to.deep.equal(
      Array.from('abcdef').concat('Other models'),
    );
    expect(models.at(-1)).to.deep.include({ series: 6, nano: 6n });
    expect(models.reduce((sum, model) => sum + model.nano, 0n)).to.equal(nano);
  });

  it('draws at most six lines, the last at or above the dearest day', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 63n - 1n), (most) => {
        const { nano, ticks } = ceiling(most);
        expect(nano >= most && nano > 0n).to.equal(true);
        expect(ticks.length).to.be.within(2, 6);
        expect(ticks[0]).to.equal(0n);
        expect(ticks.at(-1)).to.equal(nano);
      }),
    );
  });
});
