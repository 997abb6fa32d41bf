import type { RequestRecord, UpstreamAttempt } from '../../core/request-record.js';
import { toStorableText } from '../column-values.js';

/** The columns in which the records of one batch are often equal. */
export const NAME_COLUMNS = [
  { name: 'account_id', type: 'text' },
  { name: 'key_id', type: 'text' },
  { name: 'endpoint', type: 'text' },
  { name: 'model', type: 'text' },
  { name: 'provider', type: 'text' },
  { name: 'upstream_model', type: 'text' },
  { name: 'agent', type: 'text' },
] as const satisfies readonly RequestColumn[];

/** The columns in which the records of answers to one kind of call are often equal too. */
export const KIND_COLUMNS = [
  { name: 'status', type: 'integer' },
  { name: 'streamed', type: 'boolean' },
  { name: 'cached_tokens', type: 'bigint' },
  { name: 'reasoning_tokens', type: 'bigint' },
  { name: 'flags', type: 'integer' },
  { name: 'saved_nano', type: 'nano' },
] as const satisfies readonly RequestColumn[];

export const OWN_COLUMNS = [
  { name: 'id', type: 'text' },
  { name: 'time_ms', type: 'bigint' },
  { name: 'prompt_tokens', type: 'bigint' },
  { name: 'completion_tokens', type: 'bigint' },
  { name: 'auth_ms', type: 'double precision' },
  { name: 'read_ms', type: 'double precision' },
  { name: 'hold_ms', type: 'double precision' },
  { name: 'first_token_ms', type: 'double precision' },
  { name: 'took_ms', type: 'double precision' },
  { name: 'own_ms', type: 'double precision' },
  { name: 'cost_nano', type: 'nano' },
  { name: 'upstream_cost_nano', type: 'nano' },
] as const satisfies readonly RequestColumn[];

/** Columns that are empty in most records. Leaving them out makes the insert shorter. */
const RARE_COLUMNS = [
  { name: 'attempts', type: 'json' },
  { name: 'code', type: 'text' },
  { name: 'cache_write_tokens', type: 'bigint' },
  { name: 'audio_input_tokens', type: 'bigint' },
  { name: 'audio_output_tokens', type: 'bigint' },
  { name: 'units', type: 'json' },
  { name: 'uncollected_nano', type: 'nano' },
  { name: 'lost_nano', type: 'nano' },
  { name: 'cache_write_1h_tokens', type: 'bigint' },
  { name: 'image_input_tokens', type: 'bigint' },
  { name: 'image_output_tokens', type: 'bigint' },
] as const satisfies readonly RequestColumn[];

/**
 * The columns of a record. SQLite and PostgreSQL build their inserts from this table, and every
 * reader its record. A new column needs a migration, a line here and a field of `RequestRecord`.
 */
export const REQUEST_COLUMNS = [
  ...NAME_COLUMNS,
  ...KIND_COLUMNS,
  ...OWN_COLUMNS,
  ...RARE_COLUMNS,
] as const;

interface RequestColumn {
  name: keyof RequestRecord;
  /** The type in SQL; `json` is stored as text, and `nano` is a bigint in the record too. */
  type: 'text' | 'bigint' | 'integer' | 'boolean' | 'double precision' | 'json' | 'nano';
}

type ColumnName = (typeof REQUEST_COLUMNS)[number]['name'];

export type RequestRow = Record<ColumnName, unknown>;

export const REQUEST_NAMES = REQUEST_COLUMNS.map(({ name }) => name);

/** The columns with their types in PostgreSQL. */
export const REQUEST_TYPES = REQUEST_COLUMNS.map(({ name, type }) => {
  if (type === 'nano') return `${name} bigint`;
  return `${name} ${type === 'json' ? 'text' : type}`;
}).join(', ');

/** A record as a JSON object by columns, which PostgreSQL reads as a row. */
export function requestJson(record: RequestRecord): Record<string, unknown> {
  const { attempts, units, cost_nano, uncollected_nano, saved_nano, lost_nano } = record;
  const { upstream_cost_nano } = record;
  // PostgreSQL ignores fields that are not columns.
  return {
    ...record,
    attempts: attemptsText(attempts),
    units: units && JSON.stringify(units),
    cost_nano: String(cost_nano),
    uncollected_nano: String(uncollected_nano),
    upstream_cost_nano: upstream_cost_nano === null ? null : String(upstream_cost_nano),
    saved_nano: String(saved_nano),
    lost_nano: String(lost_nano),
  };
}

/**
 * The column `attempts`; null if there was no attempt, or one that succeeded, as the other columns
 * tell then.
 */
export function attemptsText(attempts: readonly UpstreamAttempt[]): string | null {
  const [first, second] = attempts;
  if (!first || (!second && first.fault === null)) return null;
  return JSON.stringify(attempts.map(storableAttempt));
}

function storableAttempt(attempt: UpstreamAttempt): UpstreamAttempt {
  const { message, codes } = attempt;
  return {
    ...attempt,
    message: message && toStorableText(message),
    codes: codes && toStorableText(codes),
  };
}

/** The record of a row, as either driver reads it. */
export function toRecord(row: RequestRow): RequestRecord {
  const fields = REQUEST_COLUMNS.map(({ name, type }) => [name, valueOf(row[name], type)] as const);
  const record = Object.fromEntries(fields) as unknown as RequestRecord;
  record.is_kept = true;
  record.attempts ??= usualAttempt(record);
  return record;
}

function valueOf(value: unknown, type: RequestColumn['type']): unknown {
  if (type === 'boolean') return Boolean(value);
  if (value === null || type === 'text' || type === 'nano') return value;
  return type === 'json' ? (JSON.parse(value as string) as unknown) : Number(value);
}

function usualAttempt({ provider, upstream_model, took_ms, own_ms }: RequestRecord) {
  if (provider === null) return [];
  const none = { fault: null, status: null, codes: null, message: null };
  const model = upstream_model ?? '';
  return [{ provider, model, ...none, took_ms: Math.max(took_ms - own_ms, 0) }];
}
