import { GatewayError } from '../../core/errors.js';
import type { Caller } from '../../core/model.js';
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

/** The routes of request records. Operators and their programs read the records of all accounts. */
export function requestRoutes(services: DashboardServices): ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/requests',
      access: 'session',
      scope: 'requests:read',
      takes_keys: true,
      about: {
        id: 'listRequests',
        summary: 'List the records of requests, newest first, page by page',
        query: 'request-query',
        status: 200,
        answer: 'RequestPage',
      },
      answer: (ctx, ...who) => list(ctx, readerOf(...who), services),
    },
    {
      method: 'GET',
      path: '/api/requests/:requestID',
      access: 'session',
      scope: 'requests:read',
      takes_keys: true,
      about: {
        id: 'readRequest',
        summary: 'Get a request by its x-request-id: its attempts, times, tokens and cost',
        status: 200,
        answer: 'Request',
        unknown: UNKNOWN,
      },
      answer: (ctx, ...who) => read(ctx, readerOf(...who), services),
    },
  ];
}

/** The reader of the records. */
interface Reader {
  /** The own account; a program with a token has none. */
  account_id: string | undefined;
  /** An API key reads the requests of that key only. */
  key_id?: string;
  /** Operators read the requests of all accounts, with their upstreams. */
  is_operator: boolean;
}

function readerOf(visitor?: Visitor, token?: ManagementToken, caller?: Caller): Reader {
  if (caller) {
    const { account_id, key_id } = caller;
    return { account_id, key_id, is_operator: false };
  }
  if (token) return { account_id: undefined, is_operator: true };
  if (!visitor) throw new Error('The route let a request in without an account.');
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
 * The filter with the reader's own account and key where none is named. Throws `GatewayError` (403)
 * where it asks for more than the reader may see.
 */
function within(reader: Reader, filter: RequestFilter): RequestFilter {
  const { account_id, key_id, is_operator } = reader;
  if (key_id !== undefined && (filter.key_id ?? key_id) !== key_id) {
    throw new GatewayError('forbidden', 'An API key reads its own requests only.');
  }
  if (!is_operator && (filter.account_id ?? account_id) !== account_id) {
    throw new GatewayError('forbidden', 'Only operators read the requests of other accounts.');
  }
  if (!is_operator && filter.provider !== undefined) {
    throw new GatewayError('forbidden', 'Only operators may filter by provider.');
  }
  if (account_id === undefined) return filter;
  const own = { ...filter, account_id: filter.account_id ?? account_id };
  return key_id === undefined ? own : { ...own, key_id };
}

async function read(
  ctx: DashboardContext,
  { account_id, key_id, is_operator }: Reader,
  { store }: DashboardServices,
): Promise<void> {
  const record = await store.requests.one(ctx.params['requestID'] ?? '');
  const isOwn =
    record?.account_id === account_id && (key_id === undefined || record?.key_id === key_id);
  if (!record || !(isOwn || is_operator)) {
    throw new GatewayError('not_found', UNKNOWN);
  }
  ctx.body = requestShape(record, is_operator);
}
