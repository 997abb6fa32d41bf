import type { Configuration } from '../core/configuration.js';
import type { LogStyle } from '../telemetry/log.js';

/** A stream that may be a terminal. */
interface Screen {
  isTTY?: boolean;
  columns?: number;
}

const NARROWEST = 20;

/** How the log is written: `auto` is text on a terminal and JSON elsewhere. */
export function logStyle(
  { log_format }: Pick<Configuration, 'log_format'>,
  screen: Screen = process.stderr,
  env: NodeJS.ProcessEnv = process.env,
): LogStyle {
  const isText = log_format === 'text' || (log_format === 'auto' && screen.isTTY === true);
  if (!isText) return 'json';
  return hasColours(screen, env) ? 'coloured' : 'text';
}

/** Whether colours are shown there and wanted: https://no-color.org says how they are refused. */
export function hasColours(screen: Screen, { NO_COLOR, TERM }: NodeJS.ProcessEnv): boolean {
  return screen.isTTY === true && (NO_COLOR ?? '') === '' && TERM !== 'dumb';
}

/** The columns that a table may take; undefined where it is not read on a terminal. */
export function columnsOf(screen: Screen, { COLUMNS }: NodeJS.ProcessEnv): number | undefined {
  const columns = screen.columns ?? Number(COLUMNS);
  return columns >= NARROWEST ? columns : undefined;
}
