import Table from 'cli-table3';

type Cell = string | number | boolean | object | null;
type Row = Readonly<Record<string, Cell>>;

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
const NUMBER = /^-?\d+(\.\d+)?$/u;

/** Prints rows: a table for people, or one JSON document for machines and nothing else. */
export function printRows(rows: readonly Row[], json: boolean | undefined, none: string): void {
  if (json) return printJson(rows);
  const [first] = rows;
  if (!first) return printLine(none);
  const cells = rows.map((row) => Object.values(row).map(shown));
  const head = Object.keys(first).map((name) => name.replaceAll('_', ' '));
  const table = new Table({
    head,
    colAligns: head.map((_, at) => (cells.every((row) => isNumber(row[at])) ? 'right' : 'left')),
    chars: BARE,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...cells);
  const lines = table.toString().split('\n');
  printLine(lines.map((line) => line.trimEnd()).join('\n'));
}

function shown(cell: Cell): string {
  if (cell === null) return '-';
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (typeof cell !== 'object') return String(cell).replaceAll(/\s+/gu, ' ');
  if (Array.isArray(cell)) return cell.join(', ');
  return Object.entries(cell)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`)
    .join(', ');
}

function isNumber(cell: string | undefined): boolean {
  return cell !== undefined && NUMBER.test(cell);
}

export function printJson(value: unknown): void {
  printLine(JSON.stringify(value, null, 2));
}

export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Dollars as people write them: the sign stands before the unit. */
export function priceTag(dollars: string): string {
  return dollars.startsWith('-') ? `-$${dollars.slice(1)}` : `$${dollars}`;
}

/** `1 account`, `2 accounts`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Milliseconds since 1970 as people and machines both read them. */
export function time(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
