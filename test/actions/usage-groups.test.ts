import { expect } from 'chai';
import { groupUsage, usageRange } from '../../src/actions/usage-groups.js';
import { GatewayError } from '../../src/core/errors.js';
import { NOTHING_USED, type UsageRow } from '../../src/store/ledger/usage.js';

const NOW_MS = Date.parse('2026-03-01T12:00:00Z');

function row(day: string, model: string, key_id: string | null, cost_nano: bigint): UsageRow {
  const tokens = { prompt_tokens: 3, cached_tokens: 2, completion_tokens: 2, reasoning_tokens: 1 };
  const amounts = { ...NOTHING_USED, ...tokens, images: 1, video_seconds: 0.5 };
  return { day, model, key_id, agent: key_id && 'codex', ...amounts, calls: 1, cost_nano };
}

const ROWS = [
  row('2026-02-28', 'a', 'k1', 5n),
  row('2026-02-28', 'b', 'k2', 70n),
  row('2026-03-01', 'a', 'k2', 10n),
  row('2026-02-27', 'a', null, 1n),
];

describe('a range of days', () => {
  it('is the last 30 days where nothing is asked for', () => {
    const { from, to, from_ms, to_ms } = usageRange({}, NOW_MS);
    expect([from, to]).to.deep.equal(['2026-01-31', '2026-03-01']);
    expect(new Date(from_ms).toISOString()).to.equal('2026-01-31T00:00:00.000Z');
    expect(new Date(to_ms).toISOString()).to.equal('2026-03-02T00:00:00.000Z');
  });

  it('ends at its last day where only that is named, and today where it is not', () => {
    expect(usageRange({ to: '2026-02-01' }, NOW_MS).from).to.equal('2026-01-03');
    expect(usageRange({ from: '2026-02-01' }, NOW_MS).to).to.equal('2026-03-01');
    expect(usageRange({ from: '2026-03-01', to: '2026-03-01' }, NOW_MS)).to.include({
      from: '2026-03-01',
      to: '2026-03-01',
    });
  });

  const wrong: [string, { from?: string; to?: string }, string][] = [
    ['no date', { from: 'yesterday' }, 'from'],
    ['the 30th of February', { to: '2026-02-30' }, 'to'],
    ['a month without its zero', { from: '2026-2-01' }, 'from'],
    ['a time of day', { from: '2026-02-01T00:00:00Z' }, 'from'],
    ['an end before the beginning', { from: '2026-02-02', to: '2026-02-01' }, 'from'],
    ['367 days', { from: '2025-01-01', to: '2026-01-02' }, 'from'],
  ];
  for (const [what, asked, param] of wrong) {
    it(`cannot be ${what}`, () => {
      expect(() => usageRange(asked, NOW_MS))
        .to.throw(GatewayError)
        .with.property('param', param);
    });
  }

  it('may be 366 days', () => {
    expect(usageRange({ from: '2025-01-01', to: '2026-01-01' }, NOW_MS).from).to.equal(
      '2025-01-01',
    );
  });
});

describe('the sum of usage', () => {
  it('is summed by day, in their order', () => {
    const { groups, totals } = groupUsage(ROWS, 'day');
    expect(groups.map(({ group, calls, cost_nano }) => [group, calls, cost_nano])).to.deep.equal([
      ['2026-02-27', 1, 1n],
      ['2026-02-28', 2, 75n],
      ['2026-03-01', 1, 10n],
    ]);
    expect(totals).to.deep.equal({
      ...NOTHING_USED,
      calls: 4,
      prompt_tokens: 12,
      cached_tokens: 8,
      completion_tokens: 8,
      reasoning_tokens: 4,
      images: 4,
      video_seconds: 2,
      cost_nano: 86n,
    });
  });

  it('is summed by model and by key, the dearest first', () => {
    const names = (by: 'model' | 'key') =>
      groupUsage(ROWS, by).groups.map(({ group, cost_nano }) => [group, cost_nano]);
    expect(names('model')).to.deep.equal([
      ['b', 70n],
      ['a', 16n],
    ]);
    expect(names('key')).to.deep.equal([
      ['k2', 80n],
      ['k1', 5n],
      [null, 1n],
    ]);
  });

  it('can be that of one model or one key alone, its totals too', () => {
    expect(groupUsage(ROWS, 'day', { model: 'a' }).totals.cost_nano).to.equal(16n);
    expect(groupUsage(ROWS, 'day', { key_id: 'k2' }).totals.cost_nano).to.equal(80n);
    expect(groupUsage(ROWS, 'day', { key_id: 'k1', model: 'b' }).groups).to.deep.equal([]);
  });
});
