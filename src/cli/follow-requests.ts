import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestRecord } from '../core/request-record.js';
import type { RequestFilter, RequestStore } from '../store/requests/request-types.js';

const LOOK_MS = 500;
const BATCH = 500;

interface FollowOptions {
  filter: RequestFilter;
  /** How many of the past come first. */
  limit: number;
  print: (record: RequestRecord) => Promise<void>;
  signal: AbortSignal;
  /** Between two looks at the store. */
  look_ms?: number;
}

/** Prints the last requests, and then each one that ends, until it is told to stop. */
export async function followRequests(
  store: Pick<RequestStore, 'page' | 'tail'>,
  { filter, limit, print, signal, look_ms = LOOK_MS }: FollowOptions,
): Promise<void> {
  let { cursor } = await store.tail(undefined, 0);
  const past = await store.page({ ...filter, limit });
  // One that was written between the two looks is seen by both.
  const seen = new Set(past.map(({ id }) => id));
  for (const record of past.reverse()) await print(record);
  while (!signal.aborted) {
    const { records, cursor: next } = await store.tail(cursor, BATCH);
    cursor = next;
    for (const record of records) {
      if (!seen.delete(record.id) && matches(record, filter)) await print(record);
    }
    if (records.length === BATCH) continue;
    await sleep(look_ms, undefined, { signal }).catch(() => undefined);
  }
}

function matches(record: RequestRecord, filter: RequestFilter): boolean {
  const { from_ms = 0, status, model = record.model, account_id = record.account_id } = filter;
  if (record.time_ms < from_ms || record.model !== model) return false;
  if (record.account_id !== account_id) return false;
  if (status === undefined || record.status === status) return true;
  return Math.floor(record.status / 100) === status;
}
