/** A table as text: the names of its columns, and its cells by row. */
export interface Grid {
  head: string[];
  rows: string[][];
}

/** The spaces between two columns. */
export const GAP = 2;
/** Texts are not cut to fewer characters. */
const MIN_WIDTH = 6;
const NUMBER = /^-?\d+(\.\d+)?$/u;
const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d\.\d{3}Z$/u;
const SHORT_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d$/u;
/** Columns of IDs, which other commands take as arguments. They are cut last. */
const ID_COLUMN = /(?:^| )(?:id|key)$/u;

/** Whether a column has only numbers, and `-` where there is none. It is never cut. */
export function isNumeric({ rows }: Grid, at: number): boolean {
  const cells = rows.map((row) => row[at] ?? '').filter((cell) => cell !== '-');
  return cells.length > 0 && cells.every((cell) => NUMBER.test(cell));
}

/**
 * Makes a table fit into `columns` of a terminal. In this order: columns without a value are left
 * out and times lose their seconds, the widest texts are cut, then IDs of other things than the
 * rows, and last the columns at the right are left out. The ID of a row, which stands first, is
 * whole, and so are times.
 */
export function fitted(grid: Grid, columns: number): Grid {
  if (widthOf(grid) <= columns) return grid;
  const { head, rows } = withoutEmpty({
    head: grid.head,
    rows: grid.rows.map((row) => row.map((cell) => cell.replace(TIME, '$1 $2'))),
  });
  const fitting = { head, rows };
  const isId = (at: number): boolean => ID_COLUMN.test(head[at] ?? '');
  const texts = head
    .map((_, at) => at)
    .filter((at) => !isNumeric(fitting, at) && !isTime(fitting, at) && !(at === 0 && isId(at)));
  const widths = widthsOf(fitting);
  for (const shrinkable of [texts.filter((at) => !isId(at)), texts]) {
    shrink(widths, shrinkable, columns);
  }
  const kept = head.map((_, at) => at);
  while (total(kept.map((at) => widths[at] ?? 0)) > columns && kept.length > 1) {
    const last = kept.findLast((at) => !isId(at)) ?? 0;
    kept.splice(last > 0 ? kept.indexOf(last) : -1, 1);
  }
  const cut = (row: string[]): string[] =>
    kept.map((at) => cutTo(row[at] ?? '', Math.min(widths[at] ?? 0, columns)));
  return { head: cut(head), rows: rows.map(cut) };
}

function isTime({ rows }: Grid, at: number): boolean {
  return rows.every((row) => row[at] === '-' || SHORT_TIME.test(row[at] ?? ''));
}

/** Shrinks the widest of the shrinkable columns, one character at a time, until all fit. */
function shrink(widths: number[], shrinkable: readonly number[], columns: number): void {
  while (total(widths) > columns) {
    const widest = shrinkable.reduce<number | undefined>((max, at) => {
      return max === undefined || (widths[at] ?? 0) > (widths[max] ?? 0) ? at : max;
    }, undefined);
    if (widest === undefined || (widths[widest] ?? 0) <= MIN_WIDTH) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

function widthsOf({ head, rows }: Grid): number[] {
  return head.map((name, at) => {
    return rows.reduce((max, row) => Math.max(max, row[at]?.length ?? 0), name.length);
  });
}

function widthOf(grid: Grid): number {
  return total(widthsOf(grid));
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
