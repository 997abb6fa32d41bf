import { TOKEN_CLASSES, type TokenClass } from '../../core/usage.js';
import { isRecord } from '../../lib/objects.js';
import { toBinding } from '../column-values.js';

/**
 * A charge of one paid answer, as it goes into the ledger. A class of tokens that the upstream has
 * not named is absent.
 */
export interface Charge extends Partial<Record<TokenClass, number>> {
  request_id: string;
  account_id: string;
  /** The key under which the request took its hold. */
  key_id: string;
  /** The amount of the hold. A store that knows it can make many charges at once. */
  hold_nano?: bigint;
  /** The windows of allowances in which the hold counts, as the store named them. */
  hold_windows?: string;
  model: string;
  provider: string;
  /** The name under which the upstream knows the model, and names it on its bill. */
  upstream_model?: string;
  /** The amount due, never negative. The ledger row negates the part that the store collects. */
  cost_nano: bigint;
  /** The cost beyond the amount due, which the client never owes: it counts as uncollected. */
  not_owed_nano?: bigint;
  /** What the upstream takes for the answer, whatever the account pays: the column `cost_nano`. */
  upstream_cost_nano?: bigint;
  /** See `Bill` for these two; absent where they are zero. */
  saved_nano?: bigint;
  /** What the move of its conversation to another upstream lost. */
  lost_nano?: bigint;
  /** The client program; absent if it is not known. */
  agent?: string;
  /** True where the gateway counted the tokens: the upstream's counts were missing or absurd. */
  estimated: boolean;
  /** JSON object of the other units, such as `{"prompt_tokens":9,"completion_tokens":5}`. */
  usage: string;
}

/**
 * The ledger columns that repeat a field of the charge. SQLite, PostgreSQL and knex build their
 * inserts from this table, and every reader its row and its entry. A new column needs a migration,
 * a line here and a field of `Charge`; a charge without that field leaves it null, or false.
 */
export const CHARGE_COLUMNS = [
  { name: 'model', type: 'text' },
  { name: 'provider', type: 'text' },
  { name: 'upstream_model', type: 'text' },
  { name: 'usage', type: 'text' },
  { name: 'estimated', type: 'boolean' },
  { name: 'cached_tokens', type: 'bigint' },
  { name: 'cache_write_tokens', type: 'bigint' },
  { name: 'cache_write_1h_tokens', type: 'bigint' },
  { name: 'audio_input_tokens', type: 'bigint' },
  { name: 'image_input_tokens', type: 'bigint' },
  { name: 'audio_output_tokens', type: 'bigint' },
  { name: 'image_output_tokens', type: 'bigint' },
  { name: 'reasoning_tokens', type: 'bigint' },
  { name: 'agent', type: 'text' },
  { name: 'saved_nano', type: 'nano' },
  { name: 'lost_nano', type: 'nano' },
  { name: 'cost_nano', type: 'nano', field: 'upstream_cost_nano' },
] as const satisfies readonly ChargeColumn[];

/**
 * The type is that of SQL, but for `nano`, a bigint that is one in the charge and the entry too. A
 * `bigint` column is a count: a number there.
 */
interface ChargeColumn {
  name: keyof Charge;
  type: 'text' | 'bigint' | 'boolean' | 'nano';
  /** The field of the charge, where it has another name. */
  field?: keyof Charge;
}

type Columns = (typeof CHARGE_COLUMNS)[number];

/** A credit has no charge: its columns are null, or false for a flag. */
type ChargeFields = {
  [C in Columns as C['name']]: C['type'] extends 'boolean'
    ? boolean
    : NonNullable<Charge[C['name']]> | null;
};

/** A row of the ledger. */
export interface LedgerEntry extends ChargeFields {
  id: number;
  account_id: string;
  kind: 'credit' | 'charge' | 'refund';
  /**
   * The request that was charged, or the reference of a credit or refund. Unique with account and
   * kind.
   */
  reference: string;
  /** The request whose charge a refund reverses; null for any other entry. */
  refund_of: string | null;
  /** Signed: credits above zero, charges below. */
  amount_nano: bigint;
  key_id: string | null;
  /** The part of a charge that the store could not collect. */
  uncollected_nano: bigint;
  created_ms: number;
}

/** A row of the ledger, as either driver reads it. */
export type LedgerRow = Omit<LedgerEntry, 'id' | 'created_ms' | Columns['name']> & {
  id: bigint;
  created_ms: bigint;
} & Record<Columns['name'], unknown>;

/** The names of the charge columns, for the column list of an insert. */
export const CHARGE_NAMES = CHARGE_COLUMNS.map(({ name }) => name).join(', ');

/** The value of a column in the row of a charge. */
export function chargeValue(
  charge: Partial<Charge>,
  { name, type, field = name }: ChargeColumn,
): string | number | bigint | boolean | null {
  return charge[field] ?? (type === 'boolean' ? false : null);
}

/** The values of the charge columns, in the order of `CHARGE_COLUMNS`. */
export function chargeValues(charge: Partial<Charge>): ReturnType<typeof chargeValue>[] {
  return CHARGE_COLUMNS.map((column) => chargeValue(charge, column));
}

type Head = Pick<LedgerEntry, 'account_id' | 'kind' | 'reference' | 'created_ms'>;

/** A row for knex; `amount_nano` is its binding. An entry without a charge is a credit. */
export function ledgerRow(
  head: Head & { amount_nano: string },
  charge: Partial<Charge> = {},
): Record<string, unknown> {
  const fields = CHARGE_COLUMNS.map((column) => {
    const value = chargeValue(charge, column);
    return [column.name, typeof value === 'bigint' ? toBinding(value) : value] as const;
  });
  return { ...head, key_id: charge.key_id ?? null, ...Object.fromEntries(fields) };
}

export function toEntry(row: LedgerRow): LedgerEntry {
  const fields = CHARGE_COLUMNS.map(({ name, type }) => [name, fieldOf(row[name], type)] as const);
  return {
    id: Number(row.id),
    account_id: row.account_id,
    kind: row.kind,
    reference: row.reference,
    refund_of: row.refund_of,
    amount_nano: row.amount_nano,
    key_id: row.key_id,
    uncollected_nano: row.uncollected_nano,
    created_ms: Number(row.created_ms),
    ...(Object.fromEntries(fields) as ChargeFields),
  };
}

function fieldOf(value: unknown, type: ChargeColumn['type']): unknown {
  if (type === 'boolean') return Boolean(value);
  return type === 'bigint' && value !== null ? Number(value) : value;
}

/** All units that an entry counts, those of its columns too; null where it counts none. */
export function usageOfEntry(entry: LedgerEntry): Record<string, unknown> | null {
  const units: unknown = entry.usage === null ? null : JSON.parse(entry.usage);
  if (!isRecord(units)) return null;
  const classes = TOKEN_CLASSES.filter((name) => entry[name] !== null);
  return { ...units, ...Object.fromEntries(classes.map((name) => [name, entry[name]])) };
}
