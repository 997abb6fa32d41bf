import type { ExportRow } from '../core/provider-export.js';
import { roundedDollars } from '../lib/money.js';

/** A fault of an export. The message begins with its file, line and column. */
export class ExportFault extends Error {
  override name = 'ExportFault';
}

/** The cells of a row by the names of their columns, and how a place in it is found. */
export interface Cells {
  texts: ReadonlyMap<string, string>;
  /** `FILE:LINE:COLUMN` of a cell. */
  placeOf: (column: string) => string;
}

const COUNT = /^\d{1,15}(?:\.0*)?(?:e\+?\d{1,2})?$/iu;
const DATE = /^\d{4}-\d{2}-\d{2}/u;
const UNIX_SECONDS = /^\d{9,10}$/u;
/** A time of day after a date, and its zone. */
const TIME = /[T ]\d/u;
const ZONE = /(?:Z|UTC|[+-]\d{2}:?\d{2})$/u;

export function exportRow({ texts, placeOf }: Cells): ExportRow {
  const cell = (columns: readonly string[]): { column: string; text: string } => {
    const column = columns.find((name) => (texts.get(name) ?? '') !== '') ?? columns[0] ?? '';
    return { column, text: texts.get(column)?.trim() ?? '' };
  };
  const fault = (column: string, message: string): ExportFault => {
    const text = JSON.stringify((texts.get(column) ?? '').slice(0, 80));
    return new ExportFault(`${placeOf(column)}: ${text} in the column ${column} ${message}`);
  };
  return {
    text: (...columns) => cell(columns).text,
    count(...columns) {
      const { column, text } = cell(columns);
      if (text === '') return 0;
      const count = Number(text);
      if (COUNT.test(text) && Number.isSafeInteger(count)) return count;
      throw fault(column, 'is no whole number');
    },
    nano(...columns) {
      const { column, text } = cell(columns);
      if (text === '') return 0n;
      const nano = roundedDollars(text.replace(/^\$/u, ''));
      if (nano === undefined) throw fault(column, 'is no decimal number');
      return nano;
    },
    day(...columns) {
      const { column, text } = cell(columns);
      const ms = timeOfText(text);
      if (!Number.isNaN(ms)) return new Date(ms).toISOString().slice(0, 10);
      throw fault(column, 'is no date, such as 2026-10-31');
    },
    fault,
  };
}

/** Milliseconds since 1970; not a number for any other text. A time without a zone is in UTC. */
function timeOfText(text: string): number {
  if (UNIX_SECONDS.test(text)) return Number(text) * 1_000;
  if (!DATE.test(text)) return NaN;
  if (!TIME.test(text)) return Date.parse(text);
  const time = text.replace(' ', 'T').replace(/ ?UTC$/u, 'Z');
  return Date.parse(ZONE.test(text) ? time : `${time}Z`);
}
