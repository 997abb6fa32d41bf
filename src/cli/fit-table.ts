/** A table as text: the names of its columns, and its cells by row. */
export interface Grid {
  head: string[];
  rows: string[][];
}

/** A table that fits, and the lines that stand below each of its rows. */
export interface FittedGrid extends Grid {
  below: string[][];
}

/** The spaces between two columns. */
export const GAP = 2;
/** Texts are not cut to fewer characters: a column that has no room for them goes below. */
const MIN_WIDTH = 12;
/** Nor, except in the first column, to less than half, up to this width. */
const MAX_HALF = 24;
const INDENT = '    ';
const NUMBER = /^-?\d+(\.\d+)?$/u;
const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d\.\d{3}Z$/u;
const SHORT_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d$/u;
/** An ID of the store, or of a request. */
const ID = /^(?:(?:acc|key|mgt|vid)_[\w-]+|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/u;

/** Whether a column has only numbers, and `-` where there is none. It is never cut. */
export function isNumeric({ rows }: Grid, at: number): boolean {
  const cells = rows.map((row) => row[at] ?? '').filter((cell) => cell !== '-');
  return cells.length > 0 && cells.every((cell) => NUMBER.test(cell));
}

/**
 * Makes a table fit into `columns` of a terminal. In this order: columns without a value are left
 * out and times lose their seconds, texts are cut, and what has no room goes below its row as `name
 * value`, the columns of IDs first. What other commands take as an argument is never cut: IDs, and
 * the names of accounts.
 */
export function fitted(grid: Grid, columns: number): FittedGrid {
  const below = grid.rows.map(() => []);
  if (total(widthsOf(grid)) <= columns) return { ...grid, below };
  const fitting = withoutEmpty({
    head: grid.head,
    rows: grid.rows.map((row) => row.map((cell) => cell.replace(TIME, '$1 $2'))),
  });
  const { head, rows } = fitting;
  const widths = widthsOf(fitting);
  const least = widths.map((width, at) => {
    const half = at === 0 ? 0 : Math.min(Math.ceil(width / 2), MAX_HALF);
    const readable = Math.max(MIN_WIDTH, head[at]?.length ?? 0, half);
    return isText(fitting, at) ? Math.min(width, readable) : width;
  });
  const kept = keptInLine(fitting, least, columns);
  shrink(widths, least, kept, columns);
  const cut = (row: string[]): string[] => kept.map((at) => cutTo(row[at] ?? '', widths[at] ?? 0));
  const moved = head.map((_, at) => at).filter((at) => !kept.includes(at));
  return {
    head: cut(head),
    rows: rows.map(cut),
    below: rows.map((row) => {
      const fields = moved.map((at) => [head[at] ?? '', row[at] ?? ''] as const);
      return belowLines(fields, columns);
    }),
  };
}

/** The columns that stay in line, in their order: IDs go first, then those at the right. */
function keptInLine(grid: Grid, least: readonly number[], columns: number): number[] {
  const kept = least.map((_, at) => at);
  while (total(kept.map((at) => least[at] ?? 0)) > columns && kept.length > 1) {
    const leaving = kept.findLast((at) => at > 0 && hasId(grid, at)) ?? kept.at(-1);
    kept.splice(kept.indexOf(leaving ?? 0), 1);
  }
  return kept;
}

/** `name value, name value`, in as many lines as it takes; without the fields that have none. */
function belowLines(fields: readonly (readonly [string, string])[], columns: number): string[] {
  const room = columns - INDENT.length;
  const lines: string[] = [];
  for (const [name, value] of fields) {
    if (value === '-') continue;
    const field = ID.test(value) ? `${name} ${value}` : cutTo(`${name} ${value}`, room);
    const line = lines.at(-1);
    if (line !== undefined && line.length + GAP + field.length <= room) {
      lines[lines.length - 1] = `${line}, ${field}`;
    } else lines.push(field);
  }
  return lines.map((line) => INDENT + line);
}

/** Whether a column may be cut. */
function isText(grid: Grid, at: number): boolean {
  return !isNumeric(grid, at) && !isTime(grid, at) && !hasId(grid, at);
}

function isTime({ rows }: Grid, at: number): boolean {
  return rows.every((row) => row[at] === '-' || SHORT_TIME.test(row[at] ?? ''));
}

function hasId({ head, rows }: Grid, at: number): boolean {
  return head[at] === 'account' || rows.some((row) => ID.test(row[at] ?? ''));
}

/** Shrinks the widest of the kept columns, one character at a time, until all fit. */
function shrink(
  widths: number[],
  least: readonly number[],
  kept: readonly number[],
  columns: number,
): void {
  const width = (at: number): number => widths[at] ?? 0;
  while (total(kept.map(width)) > columns) {
    const shrinkable = kept.filter((at) => width(at) > (least[at] ?? 0));
    const [widest] = shrinkable.toSorted((a, b) => width(b) - width(a) || b - a);
    if (widest === undefined) return;
    widths[widest] = width(widest) - 1;
  }
}

function widthsOf({ head, rows }: Grid): number[] {
  return head.map((name, at) => {
    return rows.reduce((max, row) => Math.max(max, row[at]?.length ?? 0), name.length);
  });
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, GAP * (widths.length - 1));
}

function withoutEmpty({ head, rows }: Grid): Grid {
  const kept = head.map((_, at) => at).filter((at) => rows.some((row) => row[at] !== '-'));
  const pick = (row: string[]): string[] => kept.map((at) => row[at] ?? '');
  return { head: pick(head), rows: rows.map(pick) };
}

function cutTo(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
