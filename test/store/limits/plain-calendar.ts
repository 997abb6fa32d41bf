import type { CalendarWindow } from '../../../src/core/limits.js';

const QUARTER_MS = 15 * 60_000;

/** A day of a zone, as the clock on its walls shows it. */
interface WallDay {
  date: string;
  weekday: string;
  begins_ms: number;
}

/**
 * The days of a time zone, found by looking at the clock on its walls every quarter of an hour. It
 * is slow and plain, to compare `ZoneCalendar` with.
 */
export class PlainCalendar {
  readonly #days: WallDay[] = [];

  constructor(time_zone: string, from_ms: number, to_ms: number) {
    const zone = { timeZone: time_zone } as const;
    const dates = new Intl.DateTimeFormat('sv', { ...zone, dateStyle: 'short' });
    const weekdays = new Intl.DateTimeFormat('en', { ...zone, weekday: 'short' });
    for (let time_ms = from_ms; time_ms < to_ms; time_ms += QUARTER_MS) {
      const date = dates.format(time_ms);
      if (date === this.#days.at(-1)?.date) continue;
      this.#days.push({ date, weekday: weekdays.format(time_ms), begins_ms: time_ms });
    }
  }

  /** The begin and the end of the window that this time is in. */
  span(window: CalendarWindow, now_ms: number): [begins_ms: number, ends_ms: number] {
    const today = this.#days.findLastIndex(({ begins_ms }) => begins_ms <= now_ms);
    const isFirst = (at: number): boolean => {
      const day = this.#days[at];
      if (window === 'day') return true;
      return window === 'week' ? day?.weekday === 'Mon' : day?.date.endsWith('-01') === true;
    };
    let first = today;
    while (!isFirst(first)) first -= 1;
    let next = today + 1;
    while (!isFirst(next)) next += 1;
    return [this.#days[first]?.begins_ms ?? NaN, this.#days[next]?.begins_ms ?? NaN];
  }
}
