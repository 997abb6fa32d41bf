import { GatewayError } from '../../core/errors.js';
import type { LedgerQuery } from '../../schema-types/ledger-query.js';
import type { UsageQuery } from '../../schema-types/usage-query.js';
import type { DashboardContext, DashboardServices } from '../types.js';
import { isNumber, pageOf, readCursor } from '../views/cursor.js';
import { entryShape } from '../views/shapes.js';
import { groupUsage, usageRange } from '../views/usage.js';
import { usageCsv, usageShape } from '../views/usage-shapes.js';
import { queryReader } from './input.js';

const DEFAULT_LIMIT = 50;

const readUsageQuery = queryReader<UsageQuery>('usage-query');
const readLedgerQuery = queryReader<LedgerQuery>('ledger-query');

/**
 * Answers with the usage of an account, or of one of its keys, as JSON or CSV. Throws
 * `GatewayError` (403) where such a key asks for another one.
 */
export async function answerUsage(
  ctx: DashboardContext,
  account_id: string,
  { store, now }: DashboardServices,
  own_key_id?: string,
): Promise<void> {
  const { from, to, by = 'day', model, key, format = 'json' } = readUsageQuery(ctx);
  const key_id = key ?? own_key_id;
  if (own_key_id !== undefined && key_id !== own_key_id) {
    throw new GatewayError('forbidden', 'An API key reads its own usage only.');
  }
  const range = usageRange({ from, to }, now());
  const rows = await store.usage(account_id, range);
  const usage = groupUsage(rows, by, { model, key_id });
  const keys = by === 'key' ? await store.keys(account_id) : [];
  if (format === 'json') {
    ctx.body = usageShape(usage, range, by, keys);
    return;
  }
  ctx.set('content-type', 'text/csv; charset=utf-8; header=present');
  ctx.set(
    'content-disposition',
    `attachment; filename="usage-${range.from}-${range.to}-${by}.csv"`,
  );
  ctx.body = usageCsv(usage, by, keys);
}

/** Answers with a page of the ledger of an account. */
export async function answerLedger(
  ctx: DashboardContext,
  account_id: string,
  { store }: DashboardServices,
): Promise<void> {
  const { cursor, limit = DEFAULT_LIMIT, reference } = readLedgerQuery(ctx);
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : readCursor(cursor, isNumber);
  const only = reference === undefined ? {} : { reference };
  const entries = await store.ledger(account_id, { before, limit: limit + 1, ...only });
  const { rows, next_cursor } = pageOf(entries, limit, ({ id }) => id);
  ctx.body = { data: rows.map(entryShape), next_cursor };
}
