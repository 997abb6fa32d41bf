import { formatDollars } from '../../lib/money.js';

/** Amounts from ten cents on are shown in whole cents. */
const TEN_CENTS_NANO = 100_000_000n;
/** The digits of a smaller amount. */
const SIGNIFICANT_DIGITS = 3;

/**
 * Formats an amount: `$1,234.56`, `$0.86`, `$0.0423`, `$0.0000123`. It is cut off, never rounded
 * up, so that no balance looks higher than it is.
 */
export function formatAmount(nano: bigint): string {
  const sign = nano < 0n ? '−' : '';
  const size = nano < 0n ? -nano : nano;
  const [whole = '0', fraction = ''] = formatDollars(size).split('.');
  if (size === 0n || size >= TEN_CENTS_NANO)
    return `${sign}$${formatCount(whole)}.${fraction.slice(0, 2)}`;
  const zeros = /^0*/u.exec(fraction)?.[0].length ?? 0;
  const shown = fraction.slice(0, zeros + SIGNIFICANT_DIGITS).replace(/0+$/u, '');
  return `${sign}$0.${shown.padEnd(2, '0')}`;
}

/** Formats an amount with all its digits, for prices and for sums that can be checked. */
export function formatExactAmount(nano: bigint): string {
  const [whole = '0', fraction = ''] = formatDollars(nano < 0n ? -nano : nano).split('.');
  return `${nano < 0n ? '−' : ''}$${formatCount(whole)}.${fraction}`;
}

/** Formats a count with commas between thousands. */
export function formatCount(count: number | string): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/gu, ',');
}

/** `1 key`, `3 keys`. */
export function pluralize(count: number, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : nouns}`;
}

const YEAR_DAYS = 365;
/** The spend of seven days cannot predict more years than this. */
const MAX_YEARS = 10;

/** How long credit lasts, such as `about 38 days left`. */
export function formatDaysLeft(days: number): string {
  if (days > MAX_YEARS * YEAR_DAYS) return `more than ${MAX_YEARS} years left`;
  return `about ${pluralize(days, 'day')} left`;
}

/** With a capital at its beginning. */
export function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `21 Nov` of `2026-11-21`. */
export function formatDay(day: string): string {
  return `${Number(day.slice(8, 10))} ${MONTHS[Number(day.slice(5, 7)) - 1] ?? ''}`;
}

/** `21 Nov 2026, 14:05 UTC`. */
export function formatTime(at_ms: number): string {
  const iso = new Date(at_ms).toISOString();
  return `${formatDay(iso)} ${iso.slice(0, 4)}, ${iso.slice(11, 16)} UTC`;
}

const STEPS = [
  { unit: 'day', size_ms: 86_400_000 },
  { unit: 'hour', size_ms: 3_600_000 },
  { unit: 'minute', size_ms: 60_000 },
];

/** `3 days ago`, `in 2 hours`, `just now`. */
export function formatRelativeTime(at_ms: number, now_ms: number): string {
  const size = Math.abs(at_ms - now_ms);
  const step = STEPS.find(({ size_ms }) => size >= size_ms);
  if (!step) return at_ms > now_ms ? 'in a moment' : 'just now';
  // A time to come is rounded: what was set to be in 30 days is not in 29 a moment later.
  const steps = size / step.size_ms;
  const text = pluralize(at_ms > now_ms ? Math.round(steps) : Math.floor(steps), step.unit);
  return at_ms > now_ms ? `in ${text}` : `${text} ago`;
}

/** `840 µs`, `12 ms`, `1.4 s`, `3 min 20 s`. */
export function formatMs(ms: number): string {
  if (ms > 0 && ms < 1) return `${Math.round(ms * 1_000)} µs`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** `4.2 %` of a share from 0 to 1; a share above zero is never shown as 0 %. */
export function formatPercent(share: number): string {
  if (share > 0 && share < 0.001) return '< 0.1 %';
  const percent = share * 100;
  return `${percent < 10 && percent > 0 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** `1,204`, `38`, `4.2` or `0.03` of a rate, with two digits below ten. */
export function formatRate(rate: number): string {
  if (rate >= 10 || rate === 0) return formatCount(Math.round(rate));
  return String(Number(rate.toPrecision(2)));
}
