import type Sqlite from 'better-sqlite3';

/** Row counts of the prepared statements. More sizes would gain little. */
const SIZES = [16, 8, 4, 2, 1] as const;

interface BulkOptions {
  /** Bound before the rows, in each statement. */
  shared?: readonly unknown[];
  /** Is told the number of the last row of each insert. */
  inserted?: (last: number) => void;
}

/** Adds the values of a row to those that a statement binds. */
type RowBinder<Row> = (values: unknown[], row: Row) => void;

/**
 * Prepares a statement over many rows for several row counts, because row by row it would cost
 * twice as much. `sql` returns its text for a row count. The function runs within a transaction and
 * returns the number of changed rows.
 */
export function prepareBulk<Row>(
  database: Sqlite.Database,
  sql: (rows: number) => string,
  bind: RowBinder<Row>,
): (rows: readonly Row[], options?: BulkOptions) => number {
  const statements = SIZES.map((size) => ({ size, statement: database.prepare(sql(size)) }));
  return (rows, { shared = [], inserted } = {}) => {
    let [changes, from] = [0, 0];
    for (const { size, statement } of statements) {
      for (; rows.length - from >= size; from += size) {
        const values = [...shared];
        for (let at = from; at < from + size; at++) bind(values, rows[at]!);
        // As arguments: the driver reads the members of a list more slowly.
        const run = statement.run(...values);
        changes += run.changes;
        inserted?.(Number(run.lastInsertRowid));
      }
    }
    return changes;
  };
}

/** Repeats the SQL for each row. */
export function repeatSql(rows: number, sql: string, between = ', '): string {
  return Array.from({ length: rows }, () => sql).join(between);
}

/** The columns of an insert, parted into those that a batch may have in common and the others. */
interface Parting<Row> {
  shared: readonly string[];
  sharedOf: (row: Row) => unknown[];
  /** Whether both rows have the same `sharedOf`. */
  isAlike: (one: Row, other: Row) => boolean;
  own: readonly string[];
  bindOwn: RowBinder<Row>;
}

/** An insert of many rows. */
interface BulkInsert<Row> {
  into: string;
  /** From the most columns in common to the fewest. */
  partings: readonly [Parting<Row>, ...Parting<Row>[]];
  /** The conflict clause. */
  otherwise?: string;
}

/**
 * After a fault the rows before it stay, and the caller or its transaction deals with them. To take
 * them back itself, SQLite would copy each page first.
 */
const INSERT = 'insert or fail into';

/**
 * Prepares an insert. Rows that all have the shared values of a parting in common bind them once,
 * as each bound value costs about as much as writing it.
 */
export function prepareInsert<Row>(
  database: Sqlite.Database,
  { into, partings, otherwise = '' }: BulkInsert<Row>,
): (rows: readonly Row[], inserted?: BulkOptions['inserted']) => number {
  const ways = partings.map(({ shared, sharedOf, isAlike, own, bindOwn }) => {
    // Without `where`, SQLite would take the conflict clause for a join.
    const sql = (rows: number): string =>
      `${INSERT} ${into} (${[...shared, ...own].join(', ')})
       select ${places(shared)}, own.* from (${valuesSql(rows, own)}) as own where true
       ${otherwise}`;
    return { insert: prepareBulk(database, sql, bindOwn), sharedOf, isAlike };
  });
  const [{ shared, sharedOf, own, bindOwn }] = partings;
  const all = [...shared, ...own];
  const anySql = (rows: number): string =>
    `${INSERT} ${into} (${all.join(', ')}) ${valuesSql(rows, all)} ${otherwise}`;
  const insertAny = prepareBulk<Row>(database, anySql, (values, row) => {
    values.push(...sharedOf(row));
    bindOwn(values, row);
  });
  return (rows, inserted) => {
    const options = inserted && { inserted };
    const [first, ...others] = rows;
    if (!first || others.length === 0) return insertAny(rows, options);
    const way = ways.find(({ isAlike }) => others.every((row) => isAlike(row, first)));
    if (!way) return insertAny(rows, options);
    return way.insert(rows, { ...options, shared: way.sharedOf(first) });
  };
}

function places(names: readonly string[]): string {
  return names.map(() => '?').join(', ');
}

/** Values for this many rows with these columns. */
export function valuesSql(rows: number, names: readonly string[]): string {
  return `values ${repeatSql(rows, `(${places(names)})`)}`;
}
