import type { RequestRecord, UpstreamAttempt } from '../../core/request-record.js';
import { toStorableText } from '../column-values.js';

/** The columns in which the records of one batch are often equal. */
const NAME_COLUMNS = [
  { name: 'account_id', type: 'text' },
  { name: 'key_id', type: 'text' },
  { name: 'endpoint', type: 'text' },
  { name: 'model', type: 'text' },
  { name: 'provider', type: 'text' },
  { name: 'upstream_model', type: 'text' },
] as const satisfies readonly RequestColumn[];

/** The columns in which the records of answers to one kind of call are often equal too. */
const KIND_COLUMNS = [
  { name: 'status', type: 'integer' },
  { name: 'streamed', type: 'boolean' },
  { name: 'cached_tokens', type: 'bigint' },
  { name: 'reasoning_tokens', type: 'bigint' },
  { name: 'flags', type: 'integer' },
] as const satisfies readonly RequestColumn[];

const OWN_COLUMNS = [
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
] as const satisfies readonly RequestColumn[];

/** Columns that are empty in most records. Leaving them out saves a tenth of the insert's time. */
const RARE_COLUMNS = [
  { name: 'attempts', type: 'json' },
  { name: 'code', type: 'text' },
  { name: 'cache_write_tokens', type: 'bigint' },
  { name: 'audio_input_tokens', type: 'bigint' },
  { name: 'audio_output_tokens', type: 'bigint' },
  { name: 'units', type: 'json' },
  { name: 'uncollected_nano', type: 'nano' },
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

type Value = string | number | bigint | null;

/** Whether the record has nothing in the columns that are empty in most. */
export function isUsual(record: RequestRecord): boolean {
  const { attempts, code, units, uncollected_nano } = record;
  return (
    code === null &&
    units === null &&
    record.cache_write_tokens === null &&
    record.audio_input_tokens === null &&
    record.audio_output_tokens === null &&
    uncollected_nano === 0n &&
    isUsualAttempt(attempts)
  );
}

const NAMES = NAME_COLUMNS.map(({ name }) => name);
const KINDS = KIND_COLUMNS.map(({ name }) => name);
const OWN = OWN_COLUMNS.map(({ name }) => name);

/** How the usual columns are parted into those that a batch has in common and the others. */
export const REQUEST_PARTINGS = [
  {
    shared: [...NAMES, ...KINDS],
    sharedOf: (record: RequestRecord): Value[] => [...nameValues(record), ...kindValues(record)],
    isAlike: (one: RequestRecord, other: RequestRecord): boolean =>
      hasSameNames(one, other) && isOfSameKind(one, other),
    own: OWN,
    bindOwn,
  },
  {
    shared: NAMES,
    sharedOf: nameValues,
    isAlike: hasSameNames,
    own: [...KINDS, ...OWN],
    bindOwn: (values: unknown[], record: RequestRecord): void => {
      values.push(...kindValues(record));
      bindOwn(values, record);
    },
  },
] as const;

function hasSameNames(one: RequestRecord, other: RequestRecord): boolean {
  return (
    one.key_id === other.key_id &&
    one.account_id === other.account_id &&
    one.endpoint === other.endpoint &&
    one.model === other.model &&
    one.provider === other.provider &&
    one.upstream_model === other.upstream_model
  );
}

function isOfSameKind(one: RequestRecord, other: RequestRecord): boolean {
  return (
    one.status === other.status &&
    one.streamed === other.streamed &&
    one.cached_tokens === other.cached_tokens &&
    one.reasoning_tokens === other.reasoning_tokens &&
    one.flags === other.flags
  );
}

/** The values of `NAME_COLUMNS`, as SQLite binds them. */
function nameValues(record: RequestRecord): Value[] {
  const { account_id, key_id, endpoint, model, provider, upstream_model } = record;
  return [account_id, key_id, endpoint, model, provider, upstream_model];
}

/** The values of `KIND_COLUMNS`, as SQLite binds them. */
function kindValues(record: RequestRecord): Value[] {
  const { status, streamed, cached_tokens, reasoning_tokens, flags } = record;
  return [status, streamed ? 1 : 0, cached_tokens, reasoning_tokens, flags];
}

/** Adds the values of `OWN_COLUMNS`, as SQLite binds them. */
function bindOwn(values: unknown[], record: RequestRecord): void {
  values.push(
    record.id,
    record.time_ms,
    record.prompt_tokens,
    record.completion_tokens,
    record.auth_ms,
    record.read_ms,
    record.hold_ms,
    record.first_token_ms,
    record.took_ms,
    record.own_ms,
    record.cost_nano,
  );
}

/** Adds the values of any record in the order of `REQUEST_NAMES`. */
export function bindRecord(values: unknown[], record: RequestRecord): void {
  values.push(...nameValues(record), ...kindValues(record));
  bindOwn(values, record);
  values.push(
    attemptsText(record.attempts),
    record.code,
    record.cache_write_tokens,
    record.audio_input_tokens,
    record.audio_output_tokens,
    record.units && JSON.stringify(record.units),
    record.uncollected_nano,
  );
}

/** A record as a JSON object by columns, which PostgreSQL reads as a row. */
export function requestJson(record: RequestRecord): Record<string, unknown> {
  const { attempts, units, cost_nano, uncollected_nano } = record;
  // PostgreSQL ignores fields that are not columns.
  return {
    ...record,
    attempts: attemptsText(attempts),
    units: units && JSON.stringify(units),
    cost_nano: String(cost_nano),
    uncollected_nano: String(uncollected_nano),
  };
}

/** Whether there was no attempt, or one that succeeded. Then the other columns suffice. */
function isUsualAttempt({ length, 0: first }: readonly UpstreamAttempt[]): boolean {
  return !first || (length === 1 && first.fault === null);
}

function attemptsText(attempts: readonly UpstreamAttempt[]): string | null {
  if (isUsualAttempt(attempts)) return null;
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
