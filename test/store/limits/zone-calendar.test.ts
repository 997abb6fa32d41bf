import { expect } from 'chai';
import fc from 'fast-check';
import { CALENDAR_WINDOWS } from '../../../src/core/limits.js';
import { ZoneCalendar } from '../../../src/store/limits/zone-calendar.js';
import { PlainCalendar } from './plain-calendar.js';

const ZONES = [
  'UTC',
  'Europe/Zurich',
  'America/New_York',
  'America/Havana',
  'America/Santiago',
  'Africa/Cairo',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
];

describe('the calendar of a time zone', () => {
  const [from_ms, to_ms] = [Date.UTC(2026, 9, 1), Date.UTC(2027, 5, 15)];

  for (const zone of ZONES) {
    it(`knows days, weeks and months of ${zone}, also where the clock changes`, () => {
      const plain = new PlainCalendar(zone, from_ms - 40 * 86_400_000);
      const calendar = new ZoneCalendar(zone);
      const time = fc.integer({ min: from_ms, max: to_ms });
      fc.assert(
        fc.property(time, (now_ms) => {
          const spans = calendar.spansAt(now_ms);
          for (const window of CALENDAR_WINDOWS) {
            const { begins_ms, ends_ms } = spans[window];
            expect([begins_ms, ends_ms]).to.deep.equal(plain.span(window, now_ms));
          }
        }),
        { numRuns: 60 },
      );
    });
  }

  it('compares with a plain one that looks ahead as far as asked, and never before its begin', () => {
    const plain = new PlainCalendar('Europe/Zurich', from_ms);
    const [begins_ms, ends_ms] = plain.span('month', Date.parse('2028-03-05T09:00Z'));
    expect(begins_ms).to.equal(Date.parse('2028-02-29T23:00Z'));
    expect(ends_ms).to.equal(Date.parse('2028-03-31T22:00Z'));
    expect(() => plain.span('month', from_ms - 1)).to.throw(RangeError);
  });

  it('tells midnight to the millisecond', () => {
    const calendar = new ZoneCalendar('Europe/Zurich');
    const midnight_ms = Date.parse('2026-10-31T23:00:00Z');
    expect(calendar.spansAt(midnight_ms - 1).month.ends_ms).to.equal(midnight_ms);
    expect(calendar.spansAt(midnight_ms).month.begins_ms).to.equal(midnight_ms);
    expect(calendar.spansAt(midnight_ms).month.ends_ms).to.equal(Date.parse('2026-11-30T23:00Z'));
  });

  it('refuses an unknown zone', () => {
    expect(() => new ZoneCalendar('Europe/Zuerich')).to.throw(RangeError);
  });
});
