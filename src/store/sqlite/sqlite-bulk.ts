import type Sqlite from 'better-sqlite3';
import type { HoldCommand } from '../hot-path.js';
import { CHARGE_COLUMNS, chargeValue, type Charge } from '../ledger/ledger-columns.js';

/** Row counts of the prepared statements. More sizes would gain little. */
const SIZES = [16, 8, 4, 2, 1] as const;

/** Adds the values of a row to those that a statement binds. */
type RowBinder<Row> = (values: unknown[], row: Row) => void;

/**
 * Prepares a statement over many rows for several row counts, because row by row it would cost
 * twice as much. `sql` returns its text for a row count. The function runs within a transaction,
 * binds `shared` before the rows of each statement, and returns the number of changed rows.
 */
export function prepareBulk<Row>(
  database: Sqlite.Database,
  sql: (rows: number) => string,
  bind: RowBinder<Row>,
): (rows: readonly Row[], shared?: readonly unknown[]) => number {
  const statements = SIZES.map((size) => ({ size, statement: database.prepare(sql(size)) }));
  return (rows, shared = []) => {
    let [changes, from] = [0, 0];
    for (const { size, statement } of statements) {
      for (; rows.length - from >= size; from += size) {
        const values = [...shared];
        for (let at = from; at < from + size; at++) bind(values, rows[at]!);
        // As arguments: the driver reads the members of a list more slowly.
        changes += statement.run(...values).changes;
      }
    }
    return changes;
  };
}

/** Repeats the SQL for each row. */
function repeatSql(rows: number, sql: string, between = ', '): string {
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
): (rows: readonly Row[]) => number {
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
  return (rows) => {
    const [first, ...others] = rows;
    if (!first || others.length === 0) return insertAny(rows);
    const way = ways.find(({ isAlike }) => others.every((row) => isAlike(row, first)));
    if (!way) return insertAny(rows);
    return way.insert(rows, way.sharedOf(first));
  };
}

function places(names: readonly string[]): string {
  return names.map(() => '?').join(', ');
}

/** Values for this many rows with these columns. */
export function valuesSql(rows: number, names: readonly string[]): string {
  return `values ${repeatSql(rows, `(${places(names)})`)}`;
}

/** The values of a new row of `holds`. */
interface HoldRow extends HoldCommand {
  process_id: string;
  created_ms: number;
  windows: string | null;
}

/** Inserts holds, several in one statement. */
export function prepareHoldInsert(database: Sqlite.Database) {
  return prepareInsert<HoldRow>(database, {
    into: 'holds',
    partings: [
      {
        shared: ['account_id', 'key_id', 'process_id', 'created_ms', 'windows'],
        sharedOf: ({ account_id, key_id, process_id, created_ms, windows }) => [
          account_id,
          key_id,
          process_id,
          created_ms,
          windows,
        ],
        isAlike: (one, other) =>
          one.account_id === other.account_id &&
          one.key_id === other.key_id &&
          one.created_ms === other.created_ms &&
          one.windows === other.windows,
        own: ['request_id', 'amount_nano'],
        bindOwn: (values, { request_id, amount_nano }) => values.push(request_id, amount_nano),
      },
    ],
  });
}

/** The values of a new charge in the ledger. */
interface ChargeRow {
  charge: Charge;
  collected_nano: bigint;
  /** Absent if it is zero. */
  uncollected_nano?: bigint;
  created_ms: number;
}

/** What charges of one model and provider may differ in. */
const USAGE_COLUMNS = CHARGE_COLUMNS.filter(({ name }) => name !== 'model' && name !== 'provider');

/** Of these, what answers of one upstream mostly have in common. */
const COUNT_COLUMNS = USAGE_COLUMNS.filter(({ name }) => name !== 'usage' && name !== 'cost_nano');

/** What most charges of one batch have in common. */
const CHARGE_HEAD = ['kind', 'account_id', 'key_id', 'created_ms', 'model', 'provider'];

/** Inserts charges, and skips the requests that were charged before. */
export function prepareChargeInsert(database: Sqlite.Database) {
  const head = {
    shared: CHARGE_HEAD,
    sharedOf: headOf,
    isAlike: hasSameHead,
    own: ['reference', 'amount_nano', 'uncollected_nano', ...USAGE_COLUMNS.map(({ name }) => name)],
    bindOwn: bindCharge,
  };
  const counts = {
    shared: [...CHARGE_HEAD, 'uncollected_nano', ...COUNT_COLUMNS.map(({ name }) => name)],
    sharedOf: (row: ChargeRow) => {
      const values = headOf(row);
      values.push(row.uncollected_nano ?? 0n);
      for (const column of COUNT_COLUMNS) values.push(bound(chargeValue(row.charge, column)));
      return values;
    },
    isAlike: hasSameCounts,
    own: ['reference', 'amount_nano', 'usage', 'cost_nano'],
    bindOwn: (values: unknown[], { charge, collected_nano }: ChargeRow) => {
      const { request_id, usage, upstream_cost_nano = null } = charge;
      values.push(request_id, -collected_nano, usage, upstream_cost_nano);
    },
  };
  return prepareInsert<ChargeRow>(database, {
    into: 'ledger',
    partings: [counts, head],
    otherwise: 'on conflict (account_id, kind, reference) do nothing',
  });
}

function headOf({ charge, created_ms }: ChargeRow): unknown[] {
  const { account_id, key_id, model, provider } = charge;
  return ['charge', account_id, key_id, created_ms, model, provider];
}

function hasSameHead(one: ChargeRow, other: ChargeRow): boolean {
  return (
    one.charge.account_id === other.charge.account_id &&
    one.charge.key_id === other.charge.key_id &&
    one.charge.model === other.charge.model &&
    one.charge.provider === other.charge.provider &&
    one.created_ms === other.created_ms
  );
}

function hasSameCounts(one: ChargeRow, other: ChargeRow): boolean {
  const [mine, its] = [one.charge, other.charge];
  return (
    hasSameHead(one, other) &&
    one.uncollected_nano === other.uncollected_nano &&
    mine.upstream_model === its.upstream_model &&
    mine.estimated === its.estimated &&
    mine.cached_tokens === its.cached_tokens &&
    mine.cache_write_tokens === its.cache_write_tokens &&
    mine.cache_write_1h_tokens === its.cache_write_1h_tokens &&
    mine.audio_input_tokens === its.audio_input_tokens &&
    mine.audio_output_tokens === its.audio_output_tokens &&
    mine.image_input_tokens === its.image_input_tokens &&
    mine.image_output_tokens === its.image_output_tokens &&
    mine.reasoning_tokens === its.reasoning_tokens &&
    mine.agent === its.agent &&
    mine.saved_nano === its.saved_nano &&
    mine.lost_nano === its.lost_nano
  );
}

function bindCharge(values: unknown[], row: ChargeRow): void {
  const { charge, collected_nano, uncollected_nano = 0n } = row;
  values.push(charge.request_id, -collected_nano, uncollected_nano);
  for (const column of USAGE_COLUMNS) values.push(bound(chargeValue(charge, column)));
}

/** The driver binds no booleans. */
function bound(value: ReturnType<typeof chargeValue>): string | number | bigint | null {
  return typeof value === 'boolean' ? Number(value) : value;
}

/** Ends this many holds, if every column is as given. All count in the same windows, or in none. */
export const ENDED_HOLD = (rows: number): string =>
  `delete from holds where windows is ? and (${repeatSql(
    rows,
    '(request_id = ? and account_id = ? and amount_nano = ? and key_id is ?)',
    ' or ',
  )})`;
