import Table from 'cli-table3';

type Row = Record<string, string | number | boolean | null>;

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

/** Prints rows: a table for people, or one JSON document for machines and nothing else. */
export function printRows(rows: readonly Row[], json: boolean | undefined, none: string): void {
  if (json) return printJson(rows);
  const [first] = rows;
  if (!first) return printLine(none);
  const table = new Table({
    head: Object.keys(first),
    chars: BARE,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const row of rows) table.push(Object.values(row).map((cell) => String(cell ?? '-')));
  printLine(table.toString());
}

export function printJson(value: unknown): void {
  printLine(JSON.stringify(value, null, 2));
}

export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Milliseconds since 1970 as people and machines both read them. */
export function time(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
