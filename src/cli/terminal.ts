import type { Configuration } from '../core/configuration.js';
import type { LogStyle } from '../telemetry/log.js';

/** A stream that may be a terminal. */
export interface Screen {
  isTTY?: boolean;
  columns?: number;
}

const MIN_COLUMNS = 20;

/** The style of the log: `auto` is text on a terminal and JSON elsewhere. */
export function logStyle(
  { log_format }: Pick<Configuration, 'log_format'>,
  screen: Screen = process.stderr,
  env: NodeJS.ProcessEnv = process.env,
): LogStyle {
  const isText = log_format === 'text' || (log_format === 'auto' && screen.isTTY === true);
  if (!isText) return 'json';
  return hasColours(screen, env) ? 'coloured' : 'text';
}

/** Whether a terminal shows colours, and https://no-color.org does not turn them off. */
export function hasColours(screen: Screen, { NO_COLOR, TERM }: NodeJS.ProcessEnv): boolean {
  return screen.isTTY === true && (NO_COLOR ?? '') === '' && TERM !== 'dumb';
}

/** The width for a table in columns; undefined if the output is no terminal. */
export function columnsOf(screen: Screen, { COLUMNS }: NodeJS.ProcessEnv): number | undefined {
  const columns = screen.columns ?? Number(COLUMNS);
  return columns >= MIN_COLUMNS ? columns : undefined;
}
