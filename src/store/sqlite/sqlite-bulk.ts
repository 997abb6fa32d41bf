import type Sqlite from 'better-sqlite3';

/** Row counts of the prepared statements. More sizes would gain little. */
const SIZES = [16, 8, 4, 2, 1] as const;

/** One list of values for each row. */
type Rows = readonly (readonly unknown[])[];

interface BulkOptions {
  /** Bound before the rows, in each statement. */
  shared?: readonly unknown[];
  /** Is told the number of the last row of each insert. */
  inserted?: (last: number) => void;
}

/**
 * Prepares a statement over many rows for several row counts, because row by row it would cost
 * twice as much. `sql` returns its text for a row count. The function runs within a transaction and
 * returns the number of changed rows.
 */
export function prepareBulk(
  database: Sqlite.Database,
  sql: (rows: number) => string,
): (rows: Rows, options?: BulkOptions) => number {
  const statements = SIZES.map((size) => ({ size, statement: database.prepare(sql(size)) }));
  return (rows, { shared = [], inserted } = {}) => {
    let [changes, from] = [0, 0];
    for (const { size, statement } of statements) {
      for (; rows.length - from >= size; from += size) {
        const values = shared.concat(...rows.slice(from, from + size));
        const run = statement.run(values);
        changes += run.changes;
        inserted?.(Number(run.lastInsertRowid));
      }
    }
    return changes;
  };
}
