import type { CalendarWindow } from '../../core/limits.js';

/** From the first millisecond of a time until before its end. */
export interface TimeSpan {
  begins_ms: number;
  ends_ms: number;
}

export type CalendarSpans = Readonly<Record<CalendarWindow, TimeSpan>>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** No zone is further from UTC than this. */
const MAX_OFFSET_MS = 16 * HOUR_MS;
/** A zone changes its offset at a whole second. */
const STEP_MS = 1000;

/** The days, weeks and months of a time zone. Its days have 23 or 25 hours at times. */
export class ZoneCalendar {
  readonly #date: Intl.DateTimeFormat;
  #spans: CalendarSpans | undefined;

  /** Throws `RangeError` for an unknown zone. */
  constructor(time_zone: string) {
    const numeric = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
    this.#date = new Intl.DateTimeFormat('en', {
      calendar: 'iso8601',
      timeZone: time_zone,
      ...numeric,
    });
  }

  /** The day, the week and the month of this time. A week begins on Monday. */
  spansAt(now_ms: number): CalendarSpans {
    const { day } = this.#spans ?? {};
    const isCurrent = day && day.begins_ms <= now_ms && now_ms < day.ends_ms;
    if (!isCurrent) this.#spans = this.#spansAround(now_ms);
    return this.#spans!;
  }

  #spansAround(now_ms: number): CalendarSpans {
    const { year, month, day } = this.#dateAt(now_ms);
    const number = dayNumber(year, month, day);
    // Day 0, the first of 1970, was a Thursday.
    const monday = number - ((number + 3) % 7);
    return {
      day: this.#span(number, number + 1),
      week: this.#span(monday, monday + 7),
      month: this.#span(dayNumber(year, month, 1), dayNumber(year, month + 1, 1)),
    };
  }

  #span(first: number, next: number): TimeSpan {
    return { begins_ms: this.#startOf(first), ends_ms: this.#startOf(next) };
  }

  /** The first time of a day, which is not midnight where the clock skips that. */
  #startOf(number: number): number {
    let low_ms = number * DAY_MS - MAX_OFFSET_MS;
    let high_ms = number * DAY_MS + MAX_OFFSET_MS;
    while (high_ms - low_ms > STEP_MS) {
      const middle_ms = low_ms + STEP_MS * Math.floor((high_ms - low_ms) / STEP_MS / 2);
      const { year, month, day } = this.#dateAt(middle_ms);
      if (dayNumber(year, month, day) < number) low_ms = middle_ms;
      else high_ms = middle_ms;
    }
    return high_ms;
  }

  #dateAt(time_ms: number): { year: number; month: number; day: number } {
    const parts = this.#date.formatToParts(time_ms);
    const numberOf = (type: string): number =>
      Number(parts.find((part) => part.type === type)?.value);
    return { year: numberOf('year'), month: numberOf('month'), day: numberOf('day') };
  }
}

/** The number of a date, counted from 1970. The months count from 1. */
function dayNumber(year: number, month: number, day: number): number {
  return Date.UTC(year, month - 1, day) / DAY_MS;
}
