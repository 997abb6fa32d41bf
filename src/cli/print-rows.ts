import Table from 'cli-table3';
import type { Cell, Columns } from '../actions/action.js';
import { fitted, isNumeric, type FittedGrid, type Grid } from './fit-table.js';
import { commandIo } from './command-io.js';
import { printJson, printLine } from './print.js';
import { columnsOf } from './terminal.js';
import { legible } from '../telemetry/access-log.js';

const BARE = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/**
 * Prints rows: a table for people, no wider than their terminal, or one JSON document for machines
 * and nothing else.
 */
export function printRows(rows: readonly Columns[], json: boolean | undefined, none: string): void {
  if (json) return printJson(rows);
  const [first] = rows;
  if (!first) return printLine(none);
  const all: Grid = {
    head: Object.keys(first).map((name) => name.replaceAll('_', ' ')),
    rows: rows.map((row) => Object.values(row).map(formatCell)),
  };
  const { stdout, env } = commandIo();
  printLine(tableOf(fitted(all, columnsOf(stdout, env) ?? Infinity)));
}

/** The lines of a table: its head, and each row with the lines below it. */
function tableOf(grid: FittedGrid): string {
  const { head } = grid;
  const table = new Table({
    head,
    colAligns: head.map((_, at) => (isNumeric(grid, at) ? 'right' : 'left')),
    chars: BARE,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...grid.rows);
  const [names = '', ...lines] = table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
  return [names, ...lines.flatMap((line, at) => [line, ...(grid.below[at] ?? [])])].join('\n');
}

/** A cell as one line. Text of upstreams and customers is made safe for a terminal. */
export function formatCell(cell: Cell): string {
  return legible(textOf(cell).replaceAll(/\s+/gu, ' '), Infinity);
}

function textOf(cell: Cell): string {
  if (cell === null) return '-';
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (typeof cell !== 'object') return String(cell);
  if (Array.isArray(cell)) return cell.join(', ');
  return Object.entries(cell)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`)
    .join(', ');
}
