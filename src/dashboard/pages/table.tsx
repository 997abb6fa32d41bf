import type { ComponentChildren, JSX } from 'preact';

/** A column of a table of rows. */
export interface Column<Row> {
  /** The head; nothing for a column of links and buttons. */
  head?: string;
  /** The classes of the cells; those of class `number` stand at the right. */
  class?: string;
  /** The name before a cell in a narrow window, where the head is not shown. */
  label?: string | ((row: Row) => string | undefined);
  cell(row: Row): ComponentChildren;
}

/** A table that becomes a list of cards in a narrow window. */
export function Table<Row>(props: {
  /** The name for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
}): JSX.Element {
  const { label, columns, rows } = props;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="fold">
        <thead>
          <tr>{columns.map(headCell)}</tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map((column) => (
                <td class={column.class} data-label={labelOf(column, row)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function headCell<Row>({ head, class: classes = '' }: Column<Row>): JSX.Element {
  if (head === undefined) {
    return (
      <th>
        <span class="unseen">Actions</span>
      </th>
    );
  }
  return <th class={/\bnumber\b/u.test(classes) ? 'number' : undefined}>{head}</th>;
}

function labelOf<Row>({ label }: Column<Row>, row: Row): string | undefined {
  return typeof label === 'function' ? label(row) : label;
}
