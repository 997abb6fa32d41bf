import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRecord } from '../lib/objects.js';
import type { ActionCaller, ActionServices, ListAction, Place } from './action.js';

type Cell = string | number | bigint | boolean | null;

/** Few, as the store may read them without letting other calls in. */
const PAGE = 100;

/**
 * Writes CSV by RFC 4180: a header row, CRLF, quotes where needed. Text that a spreadsheet would
 * run as a formula gets an apostrophe in front, since clients choose names.
 */
export function csv(columns: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [columns, ...rows].map(line).join('');
}

/**
 * Rows in the shape of JSON as CSV. A column names a field; `actor.name` names a field of another.
 */
export function csvOfRows(columns: readonly string[], rows: readonly object[]): string {
  return csv(columns, cellsOfRows(columns, rows));
}

/**
 * All rows of a list as CSV, read and written page by page. Between two pages other calls have
 * their turn, and the client is sent what was written.
 */
export async function* csvOfList<Input extends object, Row>(
  { rows, place, shape, csv: { columns } }: ListAction<Input, Row>,
  services: ActionServices,
  input: Input,
  caller: ActionCaller,
): AsyncGenerator<string, void> {
  const names = columns(caller);
  const limit = place ? PAGE : Infinity;
  let head = line(names);
  let after: { after?: Place } = {};
  for (;;) {
    const found = await rows(services, input, { limit, ...after }, caller);
    const shapes = found.map((row) => shape(row, caller));
    yield head + cellsOfRows(names, shapes).map(line).join('');
    const last = found.at(-1);
    if (!place || last === undefined || found.length < limit) return;
    await nextTurn();
    head = '';
    after = { after: place.of(last) };
  }
}

function cellsOfRows(columns: readonly string[], rows: readonly object[]): Cell[][] {
  return rows.map((row) => columns.map((column) => cellAt(row, column)));
}

function line(cells: readonly Cell[]): string {
  return `${cells.map(field).join(',')}\r\n`;
}

function field(cell: Cell): string {
  const text = typeof cell === 'string' ? harmless(cell) : String(cell ?? '');
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A decimal number may begin with a minus. */
function harmless(text: string): string {
  return /^[=+\-@\t\r]/u.test(text) && !/^-?\d+(\.\d+)?$/u.test(text) ? `'${text}` : text;
}

/** A list of words has spaces between them; any other list or object is JSON. */
function cellAt(row: object, column: string): Cell {
  let value: unknown = row;
  for (const name of column.split('.')) value = isRecord(value) ? value[name] : undefined;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(' ');
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return (value ?? null) as Cell;
}
