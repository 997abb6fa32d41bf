/** A table as text: the names of its columns, and its cells by row. */
export interface Grid {
  head: string[];
  rows: string[][];
}

/** Between two columns. */
export const GAP = 2;
const NARROWEST = 6;
const NUMBER = /^-?\d+(\.\d+)?$/u;
const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d\.\d{3}Z$/u;
/** What other commands take is cut only when nothing else is left to be cut. */
const ID = /(?:^| )(?:id|key)$/u;

/** Whether a column has nothing but numbers. They are never cut. */
export function isNumeric({ rows }: Grid, at: number): boolean {
  return rows.every((row) => NUMBER.test(row[at] ?? ''));
}

/**
 * Makes a table fit into so many columns of a terminal: times lose their seconds, columns without a
 * value go, then the widest texts are cut, IDs last, and then the last columns go.
 */
export function fitted(grid: Grid, columns: number): Grid {
  if (widthOf(grid) <= columns) return grid;
  const { head, rows } = withoutEmpty({
    head: grid.head,
    rows: grid.rows.map((row) => row.map((cell) => cell.replace(TIME, '$1 $2'))),
  });
  const fitting = { head, rows };
  const texts = head.map((_, at) => at).filter((at) => !isNumeric(fitting, at));
  const widths = widthsOf(fitting);
  const others = texts.filter((at) => !ID.test(head[at] ?? ''));
  for (const some of [others, texts]) shrink(widths, some, columns);
  while (total(widths) > columns && widths.length > 1) widths.pop();
  const cut = (row: string[]): string[] =>
    widths.map((width, at) => cutTo(row[at] ?? '', Math.min(width, columns)));
  return { head: cut(head), rows: rows.map(cut) };
}

function shrink(widths: number[], some: readonly number[], columns: number): void {
  while (total(widths) > columns) {
    const widest = some.reduce<number | undefined>((best, at) => {
      return best === undefined || (widths[at] ?? 0) > (widths[best] ?? 0) ? at : best;
    }, undefined);
    if (widest === undefined || (widths[widest] ?? 0) <= NARROWEST) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

function widthsOf({ head, rows }: Grid): number[] {
  return head.map((name, at) => {
    return rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), name.length);
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
