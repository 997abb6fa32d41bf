import type { Key } from '../store/keys/keys.js';
import { ACCOUNT_FIELD, listAction } from './action.js';
import { newestRows } from './newest-rows.js';
import { limitCells, withAllowances } from './limit-terms.js';
import { keyShape } from './shapes.js';

const SHOWN_REVOKED = 100;

export const listKeys = listAction({
  name: 'key list',
  fields: { account_id: ACCOUNT_FIELD },
  rows: async ({ store }, { account_id }: { account_id: string }) =>
    withAllowances(store, 'key', shownKeys(await store.keys(account_id))),
  routes: [
    {
      method: 'GET',
      path: '/api/keys',
      id: 'listKeys',
      summary: 'List your keys, newest first',
      status: 200,
      answer: 'KeyList',
    },
    {
      method: 'GET',
      path: '/api/accounts/:accountID/keys',
      scope: 'keys:read',
      id: 'listAccountKeys',
      summary: 'List the keys of an account, newest first',
      status: 200,
      answer: 'KeyList',
    },
  ],
  shape: keyShape,
  csv: {
    file: 'keys.csv',
    columns: () => [
      'id',
      'name',
      'prefix',
      'created',
      'last_used',
      'expires',
      'revoked',
      'models',
      'limit',
      'spent',
      'rates.requests_per_minute',
      'rates.tokens_per_minute',
      'rates.concurrent_requests',
      'allowances',
      'previous_until',
    ],
  },
  command: {
    about: 'show the keys of an account',
    example: 'tollgate key list alice',
    find: async ({ store }, { account_id }, page) =>
      withAllowances(store, 'key', newestRows(await store.keys(account_id), page)),
    async columns(key) {
      const { left: _left, previous_until: _until, ...cells } = keyShape(key);
      return { ...cells, ...limitCells(key) };
    },
    none: ({ account }) => `${account?.name} has no key yet.`,
  },
});

/** Newest first: all active keys, and the last 100 revoked ones. */
export function shownKeys(keys: readonly Key[]): Key[] {
  const revoked = keys.filter(({ revoked_ms }) => revoked_ms !== null);
  const shown = new Set(
    revoked.toSorted((a, b) => Number(b.revoked_ms) - Number(a.revoked_ms)).slice(0, SHOWN_REVOKED),
  );
  return keys.filter((key) => key.revoked_ms === null || shown.has(key)).toReversed();
}

/** Whether a key or a token is neither revoked nor expired. */
export function isActive(
  { revoked_ms, expires_ms }: Pick<Key, 'revoked_ms' | 'expires_ms'>,
  now_ms: number,
): boolean {
  return revoked_ms === null && (expires_ms === null || expires_ms > now_ms);
}
