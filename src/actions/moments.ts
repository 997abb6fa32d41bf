import { GatewayError } from '../core/errors.js';
import { DAY_MS, dayName, startOf } from './days.js';

/** A range of time, in ms since 1970; the end is not part of it. */
export interface Span {
  from_ms: number;
  to_ms: number;
}

/**
 * Reads a day, `2026-11-20`, a minute of UTC, `2026-11-20T14:05`, or a moment as the API writes it,
 * `2026-11-20T14:05:09.250Z`. A day at the end of a range counts as its last moment. Throws
 * `GatewayError` (400, naming the parameter) for other text.
 */
export function readMoment(param: 'from' | 'to', text: string): number {
  const [day = '', minute] = text.split('T');
  const start_ms = startOf(day);
  const at_ms = minute === undefined ? 0 : minuteOf(minute);
  if (start_ms === undefined || at_ms === undefined) {
    const message = `${param} must be a day or a minute, such as 2026-11-21 or 2026-11-21T14:05.`;
    throw new GatewayError('invalid_request', message, { param });
  }
  if (minute !== undefined) return start_ms + at_ms;
  return param === 'to' ? start_ms + DAY_MS : start_ms;
}

function minuteOf(text: string): number | undefined {
  const parts = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d(?:\.\d{1,9})?)Z)?$/u.exec(text);
  if (!parts) return undefined;
  const [, hour, minute, second = '0'] = parts;
  return (Number(hour) * 60 + Number(minute)) * 60_000 + Math.floor(Number(second) * 1_000);
}

/** `2026-11-20T14:05`, in UTC, as forms and addresses have it. */
export function momentName(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16);
}

/** The day of UTC that is so many days before the time's own. */
export function dayBefore(now_ms: number, days: number): string {
  return dayName(now_ms - days * DAY_MS);
}
