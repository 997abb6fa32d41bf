import type { Command } from 'commander';
import { parseDuration } from '../yaml/units.js';
import type { Page } from '../actions/action.js';
import { UsageError } from './command.js';

/** The options of a command that lists, as they were typed. */
export interface PageOptions {
  limit?: string;
  since?: string;
}

const MAX_ROWS = 100_000;
const DATE = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/u;

/** Adds the options of every command that lists. */
export function paged(target: Command, limit = 'all'): Command {
  return target
    .option('--limit <n>', `show at most this many, the newest (default: ${limit})`)
    .option(
      '--since <time>',
      'only from this time on: 2h, 3d, or a date such as 2026-01-31, in UTC',
    );
}

/** Reads the options. Throws `UsageError` for an invalid number of rows or an invalid time. */
export function pageOf(
  { limit, since }: PageOptions,
  now_ms: number,
  default_limit = Infinity,
): Page {
  return {
    limit: limit === undefined ? default_limit : rowsOf(limit),
    ...(since !== undefined && { since_ms: timeOf(since, now_ms) }),
  };
}

function rowsOf(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_ROWS) return count;
  throw new UsageError(`"${text}" is not a number of rows from 1 to ${MAX_ROWS}`);
}

/** Milliseconds since 1970. A date without a zone is in UTC, like all printed times. */
export function timeOf(text: string, now_ms: number): number {
  const ago_ms = parseDuration(text);
  if (ago_ms !== undefined && ago_ms <= now_ms) return now_ms - ago_ms;
  const [, day, zone] = DATE.exec(text) ?? [];
  const isWhole = text === day || zone !== undefined;
  const ms = day === undefined ? NaN : Date.parse(isWhole ? text : `${text}Z`);
  // `Date.parse` takes a day that its month does not have for a day of the next month.
  const isDay = day !== undefined && new Date(Date.parse(day)).toJSON()?.startsWith(day);
  if (isDay && ms >= 0) return ms;
  throw new UsageError(`"${text}" is not a time such as 2h, 3d, 2026-01-31 or 2026-01-31T12:00`);
}
