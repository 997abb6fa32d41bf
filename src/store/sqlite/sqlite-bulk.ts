import type Sqlite from 'better-sqlite3';

/** Row counts of the prepared statements. More sizes would gain little. */
const SIZES = [16, 8, 4, 2, 1] as const;

const NO_VALUES: readonly unknown[] = [];

/** One list of values for each row. */
type Rows = readonly (readonly unknown[])[];

/**
 * Prepares a statement over many rows for several row counts, because row by row it would cost
 * twice as much. `sql` returns its text for a row count. The function runs within a transaction and
 * returns the number of changed rows; `inserted` is told the number of the last row of each insert.
 */
export function prepareBulk(
  database: Sqlite.Database,
  sql: (rows: number) => string,
): (rows: Rows, inserted?: (last: number) => void) => number {
  const statements = SIZES.map((size) => ({ size, statement: database.prepare(sql(size)) }));
  return (rows, inserted) => {
    let [changes, from] = [0, 0];
    for (const { size, statement } of statements) {
      for (; rows.length - from >= size; from += size) {
        const values = NO_VALUES.concat(...rows.slice(from, from + size));
        const run = statement.run(values);
        changes += run.changes;
        inserted?.(Number(run.lastInsertRowid));
      }
    }
    return changes;
  };
}
