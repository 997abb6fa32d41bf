import { expect } from 'chai';
import {
  formatRelativeTime,
  pluralize,
  formatDaysLeft,
  formatAmount,
  formatExactAmount,
  formatTime,
} from '../../../src/dashboard/pages/formatting.js';

describe('the wording of amounts, counts and times', () => {
  const amounts: [nano: bigint, shown: string][] = [
    [0n, '$0.00'],
    [1n, '$0.000000001'],
    [12_000n, '$0.000012'],
    [12_345n, '$0.0000123'],
    [40_000_000n, '$0.04'],
    [99_999_999n, '$0.0999'],
    [100_000_000n, '$0.10'],
    [999_999_999n, '$0.99'],
    [1_000_000_000n, '$1.00'],
    [1_999_999_999n, '$1.99'],
    [1_234_567_890_000_000_000n, '$1,234,567,890.00'],
    [-9_700_000n, '−$0.0097'],
    [-12_340_000_000n, '−$12.34'],
  ];
  for (const [nano, shown] of amounts) {
    it(`shows ${nano} nano-dollars as ${shown}`, () => expect(formatAmount(nano)).to.equal(shown));
  }

  it('shows a price with all its digits', () => {
    expect(formatExactAmount(187_500_000n)).to.equal('$0.1875');
    expect(formatExactAmount(-1_234_500_000_001n)).to.equal('−$1,234.500000001');
    expect(formatExactAmount(15_000_000_000n)).to.equal('$15.00');
  });

  it('shows a count with its noun, in groups of three digits', () => {
    expect(pluralize(1, 'key')).to.equal('1 key');
    expect(pluralize(0, 'key')).to.equal('0 keys');
    expect(pluralize(1_234, 'call')).to.equal('1,234 calls');
  });

  it('tells how long credit lasts, as far as a week can tell', () => {
    expect([0, 1, 38, 3_650].map(formatDaysLeft)).to.deep.equal([
      'about 0 days left',
      'about 1 day left',
      'about 38 days left',
      'about 3,650 days left',
    ]);
    expect(formatDaysLeft(651_095)).to.equal('more than 10 years left');
  });

  it('tells times in UTC', () => {
    expect(formatTime(Date.parse('2026-11-01T04:05:59Z'))).to.equal('1 Nov 2026, 04:05 UTC');
  });

  const moments: [apart_s: number, shown: string][] = [
    [0, 'just now'],
    [-59, 'just now'],
    [-60, '1 minute ago'],
    [-7_199, '1 hour ago'],
    [-172_800, '2 days ago'],
    [5, 'in a moment'],
    [7_200, 'in 2 hours'],
  ];
  for (const [apart_s, shown] of moments) {
    it(`tells ${apart_s} s from now as "${shown}"`, () =>
      expect(formatRelativeTime(1e12 + apart_s * 1000, 1e12)).to.equal(shown));
  }
});
