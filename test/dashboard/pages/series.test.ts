import { expect } from 'chai';
import fc from 'fast-check';
import { ceiling, latencySeries, seriesOf, shownAs } from '../../../src/dashboard/pages/series.js';
import { NO_CALLS } from '../../../src/dashboard/views/traffic.js';
import type { TotalsRow } from '../../../src/store/requests/request-types.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FROM_MS = Date.parse('2026-11-01');
const SPAN = { from_ms: FROM_MS, to_ms: FROM_MS + 3 * DAY_MS };

function row(start_ms: number, model: string, cost_nano: bigint): TotalsRow {
  return { ...NO_CALLS, start_ms, model, calls: 1, cost_nano };
}

describe('the series of the charts', () => {
  it('have every day, and the dearest model first', () => {
    const rows = [
      row(FROM_MS + HOUR_MS, 'a', 1n),
      row(FROM_MS + 2 * DAY_MS, 'b', 3n),
      row(FROM_MS + 2 * DAY_MS + 5 * HOUR_MS, 'b', 2n),
    ];
    const { parts, bars } = seriesOf('spend', rows, SPAN, 'day');
    expect(parts).to.deep.equal([
      { name: 'b', series: 0, value: 5 },
      { name: 'a', series: 1, value: 1 },
    ]);
    expect(bars).to.deep.equal([
      { start_ms: FROM_MS, value: 1, parts: [{ name: 'a', series: 1, value: 1 }] },
      { start_ms: FROM_MS + DAY_MS, value: 0, parts: [] },
      { start_ms: FROM_MS + 2 * DAY_MS, value: 5, parts: [{ name: 'b', series: 0, value: 5 }] },
    ]);
    expect(seriesOf('calls', rows, SPAN, 'hour').bars).to.have.length(72);
  });

  it('put the models past the sixth together', () => {
    const rows = Array.from('abcdefghi').map((model, at) => row(FROM_MS, model, BigInt(9 - at)));
    const { parts, bars } = seriesOf('spend', rows, SPAN, 'day');
    expect(parts.map(({ name }) => name)).to.deep.equal(Array.from('abcdef').concat('Others'));
    expect(parts.at(-1)).to.deep.include({ series: 6, value: 6 });
    expect(parts.reduce((sum, { value }) => sum + value, 0)).to.equal(45);
    expect(bars[0]?.value).to.equal(45);
  });

  it('let percentiles stand side by side, and never add them', () => {
    const took = { calls: 3, p50_ms: 100, p95_ms: 900, p99_ms: 950 };
    const one = { start_ms: FROM_MS, took, first_token: null };
    const { bars } = latencySeries([one], one, SPAN, 'day');
    expect(bars.map(({ value }) => value)).to.deep.equal([900, 0, 0]);
    expect(bars[0]?.parts.map(({ value }) => value)).to.deep.equal([100, 900]);
    expect(shownAs('latency', 900)).to.equal('900 ms');
  });

  it('draw at most six lines, the last at or above the largest bar', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (most) => {
        const { top, ticks } = ceiling(most);
        expect(top >= most && top > 0).to.equal(true);
        expect(ticks.length).to.be.within(2, 6);
        expect(ticks[0]).to.equal(0);
        expect(ticks.at(-1)).to.equal(top);
      }),
    );
  });
});
