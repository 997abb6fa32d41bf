import type Sqlite from 'better-sqlite3';
import type { RequestRecord } from '../../core/request-record.js';
import { isRefused } from '../store-error.js';
import {
  attemptsText,
  KIND_COLUMNS,
  NAME_COLUMNS,
  OWN_COLUMNS,
  REQUEST_NAMES,
} from '../requests/request-columns.js';
import type { GroupCommit } from './group-commit.js';
import { prepareBulk, prepareInsert, valuesSql } from './sqlite-bulk.js';

type Value = string | number | bigint | null;

/** Whether the record has nothing in the columns that are empty in most. */
function isUsual(record: RequestRecord): boolean {
  const { attempts, code, units, uncollected_nano } = record;
  const [first, second] = attempts;
  return (
    code === null &&
    units === null &&
    record.cache_write_tokens === null &&
    record.cache_write_1h_tokens === null &&
    record.audio_input_tokens === null &&
    record.audio_output_tokens === null &&
    record.image_input_tokens === null &&
    record.image_output_tokens === null &&
    uncollected_nano === 0n &&
    record.lost_nano === 0n &&
    second === undefined &&
    (first === undefined || first.fault === null)
  );
}

const NAMES = NAME_COLUMNS.map(({ name }) => name);
const KINDS = KIND_COLUMNS.map(({ name }) => name);
const OWN = OWN_COLUMNS.map(({ name }) => name);

/** How the usual columns are parted into those that a batch has in common and the others. */
const REQUEST_PARTINGS = [
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
    one.upstream_model === other.upstream_model &&
    one.agent === other.agent
  );
}

function isOfSameKind(one: RequestRecord, other: RequestRecord): boolean {
  return (
    one.status === other.status &&
    one.streamed === other.streamed &&
    one.cached_tokens === other.cached_tokens &&
    one.reasoning_tokens === other.reasoning_tokens &&
    one.flags === other.flags &&
    one.saved_nano === other.saved_nano
  );
}

/** The values of `NAME_COLUMNS`, as SQLite binds them. */
function nameValues(record: RequestRecord): Value[] {
  const { account_id, key_id, endpoint, model, provider, upstream_model, agent } = record;
  return [account_id, key_id, endpoint, model, provider, upstream_model, agent];
}

/** The values of `KIND_COLUMNS`, as SQLite binds them. */
function kindValues(record: RequestRecord): Value[] {
  const { status, streamed, cached_tokens, reasoning_tokens, flags, saved_nano } = record;
  return [status, streamed ? 1 : 0, cached_tokens, reasoning_tokens, flags, saved_nano];
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
    record.upstream_cost_nano,
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
    record.lost_nano,
    record.cache_write_1h_tokens,
    record.image_input_tokens,
    record.image_output_tokens,
  );
}

const SKIP = 'on conflict (id) do nothing';

/** Inserts this many records, and skips those that are there. */
export const RECORD = (rows: number): string =>
  `insert into requests (${REQUEST_NAMES.join(', ')}) ${valuesSql(rows, REQUEST_NAMES)} ${SKIP}`;

function prepareUsualInsert(database: Sqlite.Database) {
  return prepareInsert<RequestRecord>(database, {
    into: 'requests',
    partings: REQUEST_PARTINGS,
    otherwise: SKIP,
  });
}

/** Inserts the records of requests. */
export class SqliteRecords {
  /** See `RequestStore` for these two. */
  lost = 0;
  written = 0;
  readonly #database: Sqlite.Database;
  readonly #insertUsual: ReturnType<typeof prepareUsualInsert>;
  readonly #insertRest: ReturnType<typeof prepareBulk<RequestRecord>>;

  constructor(
    database: Sqlite.Database,
    private readonly group: GroupCommit,
  ) {
    this.#database = database;
    this.#insertUsual = prepareUsualInsert(database);
    this.#insertRest = prepareBulk<RequestRecord>(database, RECORD, bindRecord);
  }

  /** Inserts records in the transaction of their charges, which no fault of a record may undo. */
  addBeside(records: readonly RequestRecord[]): void {
    try {
      this.#insert(records);
    } catch (error) {
      // A full disk ends the whole transaction, and the charges with it.
      for (const record of records) this.#addAlone(record, error);
    }
  }

  #addAlone(record: RequestRecord, earlier: unknown): void {
    if (!this.#database.inTransaction) throw earlier;
    try {
      this.#insert([record]);
    } catch {
      this.lost += 1;
    }
  }

  async add(records: readonly RequestRecord[]): Promise<void> {
    try {
      await this.group.add(() => this.#insert(records));
    } catch (error) {
      if (!isRefused(error)) throw error;
      await this.group.add(() => this.#addEach(records));
    }
  }

  #insert(records: readonly RequestRecord[]): void {
    const usual: RequestRecord[] = [];
    const rest: RequestRecord[] = [];
    for (const record of records) (isUsual(record) ? usual : rest).push(record);
    this.written += this.#insertUsual(usual) + this.#insertRest(rest);
  }

  #addEach(records: readonly RequestRecord[]): void {
    for (const record of records) {
      try {
        this.#insert([record]);
      } catch (error) {
        if (!isRefused(error)) throw error;
        this.lost += 1;
      }
    }
  }
}
