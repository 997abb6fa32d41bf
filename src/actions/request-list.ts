import { GatewayError } from '../core/errors.js';
import { OTHER_UNITS, TOKEN_CLASSES } from '../core/usage.js';
import type { RequestQuery } from '../schema-types/request-query.js';
import type { RequestFilter } from '../store/requests/request-types.js';
import { invalid, listAction, NotThere, oneAction, type ActionCaller } from './action.js';
import { isName } from './cursor.js';
import { readMoment } from './moments.js';
import { requestShape } from './request-shapes.js';

/** People read the requests of their account, API keys their own, operators all of them. */
const OPEN = { scope: 'requests:read', is_open: true, takes_keys: true } as const;

export const listRequests = listAction({
  name: 'request list',
  schema: 'request-query',
  rows({ store }, query: RequestQuery, { limit, after }, caller) {
    const filter = within(caller, filterOf(query));
    return store.requests.page({ ...filter, ...(isName(after) && { before: after }), limit });
  },
  place: { of: ({ id }) => id, is: isName },
  routes: [
    {
      method: 'GET',
      path: '/api/requests',
      ...OPEN,
      id: 'listRequests',
      summary: 'List the records of requests, newest first, page by page',
      status: 200,
      answer: 'RequestPage',
    },
  ],
  shape: (record, { is_operator }) => requestShape(record, is_operator),
  csv: {
    file: 'requests.csv',
    columns: ({ is_operator }) => [
      'id',
      'time',
      'account',
      'key',
      'endpoint',
      'model',
      ...(is_operator ? ['provider', 'upstream_model'] : []),
      'status',
      'code',
      'streamed',
      'prompt_tokens',
      'completion_tokens',
      ...TOKEN_CLASSES,
      ...OTHER_UNITS.map((unit) => `units.${unit}`),
      'first_token_ms',
      'took_ms',
      'own_ms',
      'cost',
      'uncollected',
      'flags',
      'attempts',
      'agent',
      'saved',
      'lost',
      ...(is_operator ? ['upstream_cost', 'profit'] : []),
    ],
  },
});

export const showRequest = oneAction({
  name: 'request show',
  async run(
    { store },
    { request_id }: { request_id: string },
    { account_id, key_id, is_operator },
  ) {
    const record = await store.requests.one(request_id);
    const is_own =
      record?.account_id === account_id && (key_id === undefined || record?.key_id === key_id);
    if (record && (is_own || is_operator)) return record;
    throw new NotThere(
      'There is no such request, or its record was swept.',
      `there is no request "${request_id}"; "tollgate requests" shows them`,
    );
  },
  routes: [
    {
      method: 'GET',
      path: '/api/requests/:requestID',
      ...OPEN,
      id: 'readRequest',
      summary: 'Get a request by its x-request-id: its attempts, times, tokens and cost',
      status: 200,
      answer: 'Request',
    },
  ],
  answer: (record, { is_operator }) => requestShape(record, is_operator),
});

/** The filter as the store reads it. Throws `GatewayError` (400) for a wrong time or status. */
export function filterOf(query: Omit<RequestQuery, 'cursor' | 'limit'>): RequestFilter {
  const { from, to, model, key, agent, account, provider, status } = query;
  const filter: RequestFilter = { ...statusOf(status) };
  if (from !== undefined) filter.from_ms = readMoment('from', from);
  if (to !== undefined) filter.to_ms = readMoment('to', to);
  if (model !== undefined) filter.model = model;
  if (key !== undefined) filter.key_id = key;
  if (agent !== undefined) filter.agent = agent;
  if (account !== undefined) filter.account_id = account;
  if (provider !== undefined) filter.provider = provider;
  return filter;
}

function statusOf(text: string | undefined): Pick<RequestFilter, 'failed' | 'status'> {
  if (text === undefined) return {};
  if (text === 'failed') return { failed: true };
  if (/^[1-5](?:xx|\d\d)?$/u.test(text)) return { status: Number.parseInt(text, 10) };
  const message = 'status must be failed, a status such as 502, or a class such as 5xx.';
  throw invalid('status', message);
}

/**
 * The filter with the caller's own account and key where none is named. Throws `GatewayError` (403)
 * where it asks for more than the caller may see.
 */
function within(caller: ActionCaller, filter: RequestFilter): RequestFilter {
  const { account_id, key_id, is_operator } = caller;
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
