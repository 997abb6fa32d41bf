import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestRecord } from '../core/request-record.js';
import type { RequestFilter, RequestStore } from '../store/requests/request-types.js';

const POLL_MS = 500;
const BATCH = 500;

interface FollowOptions {
  filter: RequestFilter;
  /** The number of earlier requests to print first. */
  limit: number;
  print: (record: RequestRecord) => Promise<void>;
  signal: AbortSignal;
  /** The time between two reads of the store. */
  poll_ms?: number;
}

/** Prints the latest requests, and then each request that ends, until `signal` is aborted. */
export async function followRequests(
  store: Pick<RequestStore, 'page' | 'tail'>,
  { filter, limit, print, signal, poll_ms = POLL_MS }: FollowOptions,
): Promise<void> {
  let { cursor } = await store.tail(undefined, 0);
  const past = await store.page({ ...filter, limit });
  // Both reads return a record that was written between them.
  const seen = new Set(past.map(({ id }) => id));
  for (const record of past.reverse()) await print(record);
  while (!signal.aborted) {
    const { records, cursor: next } = await store.tail(cursor, BATCH);
    cursor = next;
    for (const record of records) {
      if (!seen.delete(record.id) && matches(record, filter)) await print(record);
    }
    if (records.length === BATCH) continue;
    await sleep(poll_ms, undefined, { signal }).catch(() => undefined);
  }
}

function matches(record: RequestRecord, filter: RequestFilter): boolean {
  const { from_ms = 0, status, model = record.model, account_id = record.account_id } = filter;
  if (record.time_ms < from_ms || record.model !== model) return false;
  if (record.account_id !== account_id) return false;
  if (filter.agent !== undefined && record.agent !== filter.agent) return false;
  if (status === undefined || record.status === status) return true;
  return Math.floor(record.status / 100) === status;
}
