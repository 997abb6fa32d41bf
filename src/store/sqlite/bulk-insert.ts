import type Sqlite from 'better-sqlite3';

/** So many rows one statement takes. More would gain little, and each size is prepared. */
const SIZES = [16, 8, 4, 2, 1] as const;

/** A list of values for each row. */
export type Rows = readonly (readonly unknown[])[];

/**
 * A statement over many rows, prepared for several numbers of them: row by row it would cost
 * twice as much. `sql` writes it down for so many. Runs within a transaction, and answers how many
 * rows were changed.
 */
export function prepareBulk(
  database: Sqlite.Database,
  sql: (rows: number) => string,
): (rows: Rows) => number {
  const statements = SIZES.map((size) => ({ size, statement: database.prepare(sql(size)) }));
  return (rows) => {
    let [changes, from] = [0, 0];
    for (const { size, statement } of statements) {
      for (; rows.length - from >= size; from += size) {
        const values: unknown[] = [];
        for (const row of rows.slice(from, from + size)) values.push(...row);
        changes += statement.run(values).changes;
      }
    }
    return changes;
  };
}

/** The same words for each of so many rows. */
export function times(rows: number, words: string, between = ', '): string {
  return Array.from({ length: rows }, () => words).join(between);
}
