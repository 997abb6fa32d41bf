/** The calendar windows, from the shortest to the longest. */
export const CALENDAR_WINDOWS = ['day', 'week', 'month'] as const;

export type CalendarWindow = (typeof CALENDAR_WINDOWS)[number];

/** A calendar window of the file's `time_zone`, or a duration that begins with the first call. */
export type AllowanceWindow = CalendarWindow | `${number}${'m' | 'h' | 'd'}`;

/** An amount that returns with each window. */
export interface Allowance {
  window: AllowanceWindow;
  amount_nano: bigint;
}

/** An amount that is added to an allowance until a time. */
export interface AllowanceRaise {
  window: AllowanceWindow;
  by_nano: bigint;
  until_ms: number;
}

/** What one has left of an allowance. A window of a duration has no times before its first call. */
export interface AllowanceState extends Allowance {
  /** The temporary increase; 0 and null where there is none, or where it has ended. */
  extra_nano: bigint;
  extra_until_ms: number | null;
  spent_nano: bigint;
  held_nano: bigint;
  begins_ms: number;
  ends_ms: number;
}

/** Rates of one key, account or model, or of all. Without a field there is no such limit. */
export interface Rates {
  requests_per_minute?: number;
  tokens_per_minute?: number;
  concurrent_requests?: number;
}

export const RATE_NAMES = [
  'requests_per_minute',
  'tokens_per_minute',
  'concurrent_requests',
] as const satisfies readonly (keyof Rates)[];

/** The rates that hold for a key or an account: its own win over those of gateway.yaml. */
export function ratesInForce(
  general: Rates | undefined,
  own: Rates | null | undefined,
): Rates | undefined {
  return general && own ? { ...general, ...own } : (own ?? general);
}

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** A calendar window, and the duration that people would take it for. */
const SAME_LENGTH = { day: UNIT_MS.d, week: 7 * UNIT_MS.d, month: undefined } as const;
const LONGEST_MS = 366 * UNIT_MS.d;

/** The words that name a window, for messages. */
export const WINDOW_WORDS = 'day, week, month, or a duration such as 30m, 5h or 2d';

export function isCalendarWindow(window: string): window is CalendarWindow {
  return CALENDAR_WINDOWS.some((name) => name === window);
}

/** Whether the text names a window: `day`, `week`, `month`, `30m`, `5h`, `2d`. */
export function isAllowanceWindow(text: string): text is AllowanceWindow {
  return isCalendarWindow(text) || durationOf(text) !== undefined;
}

/** The duration of a window that begins with the first call; null for one of the calendar. */
export function windowDurationMs(window: AllowanceWindow): number | null {
  return durationOf(window) ?? null;
}

function durationOf(text: string): number | undefined {
  const [, number, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  const duration_ms = Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return duration_ms <= LONGEST_MS ? duration_ms : undefined;
}

/** Two of the windows that have the same length, as `60m` and `1h` or `day` and `24h` do. */
export function sameWindows(
  windows: readonly AllowanceWindow[],
): [AllowanceWindow, AllowanceWindow] | undefined {
  const known = new Map<number, AllowanceWindow>();
  for (const window of windows) {
    const length_ms = isCalendarWindow(window) ? SAME_LENGTH[window] : durationOf(window);
    if (length_ms === undefined) continue;
    const same = known.get(length_ms);
    if (same !== undefined) return [same, window];
    known.set(length_ms, window);
  }
  return undefined;
}

/** A window as part of a sentence: `a day`, `in 5h`. */
export function perWindow(window: AllowanceWindow): string {
  return isCalendarWindow(window) ? `a ${window}` : `in ${window}`;
}
