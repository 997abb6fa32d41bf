import { GatewayError } from '../../core/errors.js';
import type { RequestQuery } from '../../schema-types/request-query.js';
import type { RequestFilter } from '../../store/requests/request-types.js';
import type { ManagementToken } from '../../store/tokens/management-tokens.js';
import type { DashboardContext, DashboardServices, Visitor } from '../types.js';
import { isName, pageOf, readCursor } from '../views/cursor.js';
import { filterOf } from '../views/request-query.js';
import { requestShape } from '../views/request-shapes.js';
import { queryReader } from './input.js';
import type { ApiRoute } from './route.js';

const DEFAULT_LIMIT = 50;
const UNKNOWN = 'There is no such request, or its record was swept.';

const readQuery = queryReader<RequestQuery>('request-query');

/** The records of requests: an account's own, and those of all for operators and their programs. */
export function requestRoutes(services: DashboardServices): ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/requests',
      who: 'visitor',
      scope: 'requests:read',
      about: {
        id: 'listRequests',
        summary: 'What was asked and how it ended, newest first, page by page',
        query: 'request-query',
        status: 200,
        answer: 'RequestPage',
      },
      answer: (ctx, visitor, token) => list(ctx, readerOf(visitor, token), services),
    },
    {
      method: 'GET',
      path: '/api/requests/:requestID',
      who: 'visitor',
      scope: 'requests:read',
      about: {
        id: 'readRequest',
        summary: 'A request by its x-request-id: its attempts, times, tokens and cost',
        status: 200,
        answer: 'Request',
        unknown: UNKNOWN,
      },
      answer: (ctx, visitor, token) => read(ctx, readerOf(visitor, token), services),
    },
  ];
}

/** Who reads requests. */
interface Reader {
  /** The own account; a program with a token has none. */
  account_id: string | undefined;
  /** Operators read those of other accounts, and who the upstreams were. */
  is_operator: boolean;
}

function readerOf(visitor: Visitor | undefined, token: ManagementToken | undefined): Reader {
  if (token) return { account_id: undefined, is_operator: true };
  if (!visitor) throw new Error('Nobody asks for these requests.');
  return { account_id: visitor.session.account_id, is_operator: visitor.operator };
}

async function list(
  ctx: DashboardContext,
  reader: Reader,
  { store }: DashboardServices,
): Promise<void> {
  const { cursor, limit = DEFAULT_LIMIT, ...query } = readQuery(ctx);
  const filter = within(reader, filterOf(query));
  const before = cursor === undefined ? {} : { before: readCursor(cursor, isName) };
  const records = await store.requests.page({ ...filter, ...before, limit: limit + 1 });
  const { rows, next_cursor } = pageOf(records, limit, ({ id }) => id);
  ctx.body = { data: rows.map((one) => requestShape(one, reader.is_operator)), next_cursor };
}

/**
 * The filter with the reader's own account where none is named. Throws `GatewayError` (403) where
 * it asks for what operators alone may see.
 */
function within({ account_id, is_operator }: Reader, filter: RequestFilter): RequestFilter {
  if (!is_operator && (filter.account_id ?? account_id) !== account_id) {
    throw new GatewayError('forbidden', 'Only operators read the requests of other accounts.');
  }
  if (!is_operator && filter.provider !== undefined) {
    throw new GatewayError('forbidden', 'Only operators read who the upstreams were.');
  }
  if (account_id === undefined) return filter;
  return { ...filter, account_id: filter.account_id ?? account_id };
}

async function read(
  ctx: DashboardContext,
  { account_id, is_operator }: Reader,
  { store }: DashboardServices,
): Promise<void> {
  const record = await store.requests.one(ctx.params['requestID'] ?? '');
  if (!record || (!is_operator && record.account_id !== account_id)) {
    throw new GatewayError('not_found', UNKNOWN);
  }
  ctx.body = requestShape(record, is_operator);
}
