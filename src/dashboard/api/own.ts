import type { LedgerQuery } from '../../schema-types/ledger-query.js';
import type { UsageQuery } from '../../schema-types/usage-query.js';
import type { DashboardContext, DashboardServices, Visitor } from '../types.js';
import { isNumber, pageOf, readCursor } from '../views/cursor.js';
import { entryShape, ownAccountShape } from '../views/shapes.js';
import { groupUsage, usageRange } from '../views/usage.js';
import { usageCsv, usageShape } from '../views/usage-shapes.js';
import { queryReader } from './input.js';
import { apiRoute, type ApiRoute } from './route.js';

const DEFAULT_LIMIT = 50;

const readUsageQuery = queryReader<UsageQuery>('usage-query');
const readLedgerQuery = queryReader<LedgerQuery>('ledger-query');

/** The routes about a visitor's own account. */
export function ownRoutes(services: DashboardServices): ApiRoute[] {
  return [
    apiRoute({
      method: 'GET',
      path: '/api/account',
      who: 'visitor',
      about: {
        id: 'getAccount',
        summary: 'The own account: its balance, what is held of it, what is left',
        status: 200,
        answer: 'OwnAccount',
      },
      async answer(ctx, visitor) {
        const account = await services.store.account(visitor.session.account_id);
        if (!account) throw new Error('The account of a session is gone.');
        ctx.body = ownAccountShape(account, visitor);
      },
    }),
    apiRoute({
      method: 'GET',
      path: '/api/usage',
      who: 'visitor',
      about: {
        id: 'getUsage',
        summary: 'What was used and charged, by day, model or key',
        query: 'usage-query',
        status: 200,
        answer: 'Usage',
        csv: true,
      },
      answer: (ctx, visitor) => answerUsage(ctx, visitor, services),
    }),
    apiRoute({
      method: 'GET',
      path: '/api/ledger',
      who: 'visitor',
      about: {
        id: 'getLedger',
        summary: 'Credits and charges, newest first, page by page',
        query: 'ledger-query',
        status: 200,
        answer: 'Ledger',
      },
      answer: (ctx, visitor) => answerLedger(ctx, visitor, services),
    }),
  ];
}

async function answerUsage(
  ctx: DashboardContext,
  { session: { account_id } }: Visitor,
  { store, now }: DashboardServices,
): Promise<void> {
  const { from, to, by = 'day', model, key: key_id, format = 'json' } = readUsageQuery(ctx);
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

async function answerLedger(
  ctx: DashboardContext,
  { session: { account_id } }: Visitor,
  { store }: DashboardServices,
): Promise<void> {
  const { cursor, limit = DEFAULT_LIMIT, reference } = readLedgerQuery(ctx);
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : readCursor(cursor, isNumber);
  const only = reference === undefined ? {} : { reference };
  const entries = await store.ledger(account_id, { before, limit: limit + 1, ...only });
  const { rows, next_cursor } = pageOf(entries, limit, ({ id }) => id);
  ctx.body = { data: rows.map(entryShape), next_cursor };
}
