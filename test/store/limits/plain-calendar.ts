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
 * is slow and plain, to compare `ZoneCalendar` with. It looks as far ahead as it is asked for.
 */
export class PlainCalendar {
  readonly #days: WallDay[] = [];
  readonly #dates: Intl.DateTimeFormat;
  readonly #weekdays: Intl.DateTimeFormat;
  #looked_ms: number;

  constructor(time_zone: string, from_ms: number) {
    const zone = { timeZone: time_zone } as const;
    this.#dates = new Intl.DateTimeFormat('sv', { ...zone, dateStyle: 'short' });
    this.#weekdays = new Intl.DateTimeFormat('en', { ...zone, weekday: 'short' });
    this.#looked_ms = from_ms;
  }

  /** The begin and the end of the window that this time is in. */
  span(window: CalendarWindow, now_ms: number): [begins_ms: number, ends_ms: number] {
    while (this.#looked_ms <= now_ms) this.#look();
    const isFirst = ({ date, weekday }: WallDay): boolean => {
      if (window === 'day') return true;
      return window === 'week' ? weekday === 'Mon' : date.endsWith('-01');
    };
    let today = this.#days.findLastIndex(({ begins_ms }) => begins_ms <= now_ms);
    let next = today + 1;
    while (!isFirst(this.#day(today))) today -= 1;
    while (!isFirst(this.#day(next))) next += 1;
    return [this.#day(today).begins_ms, this.#day(next).begins_ms];
  }

  #day(at: number): WallDay {
    if (at < 0) throw new RangeError('The calendar begins later than that.');
    for (;;) {
      const day = this.#days[at];
      if (day) return day;
      this.#look();
    }
  }

  #look(): void {
    const begins_ms = this.#looked_ms;
    this.#looked_ms += QUARTER_MS;
    const date = this.#dates.format(begins_ms);
    if (date === this.#days.at(-1)?.date) return;
    this.#days.push({ date, weekday: this.#weekdays.format(begins_ms), begins_ms });
  }
}
