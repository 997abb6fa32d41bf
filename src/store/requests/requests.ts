import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { firstIdAt, timeOf, type RequestRecord } from '../../core/request-record.js';
import { isPossible } from '../column-values.js';
import type { Database } from '../database.js';
import { REQUEST_COLUMNS, toRecord, type RequestRow } from './request-columns.js';
import { stretchesOf, type Stretch } from './request-stretches.js';
import { accountOf, hourRows, latencies, totals } from './request-totals.js';
import { tail } from './request-tail.js';
import type { HotRequests, RequestFilter, RequestPage, RequestStore } from './request-types.js';

type Order = 'asc' | 'desc';

const COLUMNS = REQUEST_COLUMNS.map(({ name }) => `requests.${name}`);
const HOUR_MS = 3_600_000;
/** How far the clock of another gateway may be ahead. */
const AHEAD_MS = 24 * HOUR_MS;
/** The pause between two steps of the sweep, and its longest time. */
const PAUSE_MS = 20;
const SWEEP_MS = 4_000;

export function openRequests(
  database: Database,
  hot: HotRequests,
  now: () => number,
): RequestStore {
  return {
    add: (records) => hot.add(records),
    get lost() {
      return hot.lost;
    },
    get written() {
      return hot.written;
    },
    page: (page) => pageOf(database, page, now()),
    one: (id) => one(database, id),
    tail: (cursor, limit) => tail(database, cursor, limit),
    totals: (query) => totals(database, query),
    latencies: (query) => latencies(database, query),
    hourRows: (query, limit) => hourRows(database, query, limit),
    rollUp: () => hot.rollUp(),
    sweep: (before, signal) => sweep(hot, before, signal),
  };
}

async function one(database: Database, id: string): Promise<RequestRecord | undefined> {
  if (!isPossible(id)) return undefined;
  const row = await database.read<RequestRow | undefined>((knex) =>
    knex('requests').where({ id }).first(COLUMNS),
  );
  return row && toRecord(row);
}

/**
 * Reads a page by an index, if there is one for the filter. Otherwise it looks only where the
 * totals know of such requests, hour by hour.
 */
async function pageOf(
  database: Database,
  page: RequestPage,
  now_ms: number,
): Promise<RequestRecord[]> {
  const { account_id: owner, key_id, model, provider, agent, code, before } = page;
  const texts = [owner, key_id, model, provider, agent, code, before];
  if (texts.some((text) => text !== undefined && !isPossible(text))) return [];
  const account_id = await accountOf(database, page);
  if (account_id !== undefined) {
    return accountPage(database, { ...page, account_id }, account_id, now_ms + AHEAD_MS);
  }
  if (isIndexed(page)) return read(database, page);
  return readStretches(database, page, stretches(database, page, now_ms));
}

/**
 * A page of one account. The few records that are not in the totals yet are not in the index by
 * account either, so they are read as well. They are read first: a record that is added to the
 * totals meanwhile is then found twice, not missed.
 */
async function accountPage(
  database: Database,
  page: RequestPage,
  account_id: string,
  last_ms: number,
): Promise<RequestRecord[]> {
  const upto = await rolledUp(database);
  const fresh = await database.read<RequestRow[]>((knex) =>
    // The expression keeps the planner off the index of IDs, so that only new records are read.
    select(knex, page, knex.raw(`requests.id || ''`)).where({ account_id }).where('seq', '>', upto),
  );
  const known = isIndexed(page)
    ? await read(database, page)
    : await readStretches(database, page, stretchesOf(database, page, endOf(page, last_ms)));
  const ids = new Set(known.map(({ id }) => id));
  const missing = fresh.map(toRecord).filter(({ id }) => !ids.has(id));
  return [...known, ...missing].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, page.limit);
}

async function readStretches(
  database: Database,
  page: RequestPage,
  stretches: AsyncIterable<Stretch>,
): Promise<RequestRecord[]> {
  const found: RequestRecord[] = [];
  for await (const stretch of stretches) {
    const limit = page.limit - found.length;
    found.push(...(await readStretch(database, { ...page, limit }, stretch)));
    if (found.length >= page.limit) break;
  }
  return found;
}

/**
 * Reads the newest records of a stretch. A disk yields rows faster forwards than
 * backwards, so a stretch whose matching records fit on the page is read forwards.
 */
async function readStretch(
  database: Database,
  page: RequestPage,
  stretch: Stretch,
): Promise<RequestRecord[]> {
  if (stretch.calls !== undefined && stretch.calls <= page.limit) {
    const records = await read(database, { ...page, limit: page.limit + 1 }, stretch, 'asc');
    // With more records than the totals count, the newest ones may be missing.
    if (records.length <= page.limit) return records.reverse();
  }
  return read(database, page, stretch);
}

/** Whether an index finds the rows without reading many others. */
function isIndexed(page: RequestFilter): boolean {
  const { account_id, key_id, provider, status, model, agent } = page;
  if ([key_id, provider, model, status, agent].some((one) => one !== undefined)) return false;
  return account_id === undefined || !fails(page);
}

/** Whether all matching requests have an error code. */
function fails({ failed, code, status = 0 }: RequestFilter): boolean {
  if (failed === true || code !== undefined) return true;
  return Math.floor(status < 10 ? status : status / 100) >= 4;
}

/** The stretches that may have matching records, the newest first, also those not in the totals. */
async function* stretches(
  database: Database,
  page: RequestPage,
  now_ms: number,
): AsyncGenerator<Stretch, void> {
  const { from_ms = 0 } = page;
  const end_ms = endOf(page, now_ms + AHEAD_MS);
  const fresh_ms = await oldestFresh(database);
  let hour_ms = hourOf(end_ms);
  if (fresh_ms !== undefined) {
    const first_ms = hourOf(Math.max(fresh_ms, from_ms));
    for (; hour_ms >= first_ms; hour_ms -= HOUR_MS) {
      yield { first_id: firstIdAt(hour_ms), last_id: firstIdAt(hour_ms + HOUR_MS) };
    }
  }
  yield* stretchesOf(database, page, hour_ms + HOUR_MS);
}

/** The time before which the page ends. */
function endOf({ to_ms = Infinity, before }: RequestPage, last_ms: number): number {
  return Math.min(to_ms, before === undefined ? Infinity : timeOf(before) + 1, last_ms);
}

/** The time of the oldest record that is not in the totals; undefined if all are. */
async function oldestFresh(database: Database): Promise<number | undefined> {
  const upto = await rolledUp(database);
  const row = await database.read<{ time_ms: bigint | null } | undefined>((knex) =>
    knex('requests')
      .where('seq', '>', upto)
      .first<{ time_ms: bigint | null }>(knex.raw('min(time_ms) as time_ms')),
  );
  const time_ms = row?.time_ms ?? undefined;
  return time_ms === undefined ? undefined : Number(time_ms);
}

/**
 * The number of the last record in the totals. It is read by itself: above a number that it does
 * not know yet, the planner of PostgreSQL expects a third of all records, and reads them all.
 */
async function rolledUp(database: Database): Promise<string> {
  const row = await database.read<{ upto: bigint } | undefined>((knex) =>
    knex('request_roll_up').first('upto'),
  );
  return String(row?.upto ?? 0n);
}

function hourOf(ms: number): number {
  return ms - (ms % HOUR_MS);
}

async function read(
  database: Database,
  page: RequestPage,
  stretch?: Stretch,
  order: Order = 'desc',
): Promise<RequestRecord[]> {
  const { account_id } = page;
  // Failures are few: the index of them is read, also for one account.
  const isJoined = account_id !== undefined && !fails(page);
  const id = isJoined ? 'known.id' : 'requests.id';
  const rows = await database.read<RequestRow[]>((knex) => {
    const query = select(knex, page, id, order);
    if (isJoined) {
      query.join('request_accounts as known', 'known.id', 'requests.id');
      query.where({ 'known.account_id': account_id });
    } else if (account_id !== undefined) query.where({ account_id });
    if (!stretch) return query;
    return query.whereBetween(id, [stretch.first_id, stretch.last_id]);
  });
  return rows.map(toRecord);
}

/** Selects the records of a page, of any account. `id` is the column by which they are sorted. */
function select(
  knex: Knex,
  page: RequestPage,
  id: string | Knex.Raw = 'requests.id',
  order: Order = 'desc',
): Knex.QueryBuilder {
  const { key_id, model, provider, agent, status, before, limit, from_ms, to_ms } = page;
  const query: Knex.QueryBuilder = knex('requests').select(COLUMNS);
  if (key_id !== undefined) query.where({ key_id });
  if (model !== undefined) query.where({ model });
  if (provider !== undefined) query.where({ provider });
  if (agent !== undefined) query.where({ agent });
  if (status !== undefined && status < 10) {
    query.whereBetween('status', [status * 100, status * 100 + 99]);
  } else if (status !== undefined) query.where({ status });
  if (page.code !== undefined) query.where({ code: page.code });
  // The partial index of failures is used only if the query has its condition.
  if (fails(page)) query.whereNotNull('code');
  if (before !== undefined) query.where(id as string, '<', before);
  if (from_ms !== undefined) query.where(id as string, '>=', firstIdAt(from_ms));
  if (to_ms !== undefined) query.where(id as string, '<', firstIdAt(to_ms));
  // The types of knex know no expression to sort by and to compare with.
  return query.orderBy(id as string, order).limit(limit);
}

async function sweep(
  hot: HotRequests,
  { records_ms, totals_ms }: { records_ms: number; totals_ms: number },
  signal: AbortSignal | undefined,
): Promise<number> {
  const id = firstIdAt(records_ms);
  const end_ms = performance.now() + SWEEP_MS;
  let swept = 0;
  for (;;) {
    const step = await hot.sweepStep({ id, totals_ms });
    swept += step;
    if (step === 0 || performance.now() > end_ms || signal?.aborted) return swept;
    await sleep(PAUSE_MS);
  }
}
