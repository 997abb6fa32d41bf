import { GatewayError } from '../../core/errors.js';
import { filterOf } from '../../actions/request-list.js';

const NAMES = ['from', 'to', 'model', 'key', 'agent', 'account', 'provider', 'status'] as const;
const CHARACTERS = 256;

/** The filter of a page of requests, as its address has it. */
export type RequestQuery = Partial<Record<(typeof NAMES)[number], string>>;

type Query = Readonly<Record<string, string | string[] | undefined>>;

/** Reads the filter. An empty value counts as absent. */
export function readRequestQuery(query: Query): RequestQuery {
  const given = NAMES.map((name) => [name, query[name]] as const);
  return Object.fromEntries(
    given.filter(
      ([, value]) => typeof value === 'string' && value !== '' && value.length <= CHARACTERS,
    ),
  ) as RequestQuery;
}

/** The error message of each parameter of a filter that is invalid. */
export type WrongFilter = Partial<Record<'from' | 'to' | 'status', string>>;

/** A filter without its invalid parameters, and their error messages. */
export interface ReadableFilter {
  query: RequestQuery;
  wrong: WrongFilter;
}

/** Reads the valid parameters of a filter, for a page that shows the errors of the others. */
export function readableOf(query: RequestQuery): ReadableFilter {
  const readable = { ...query };
  const wrong: WrongFilter = {};
  for (const name of ['from', 'to', 'status'] as const) {
    const fault = faultOf({ [name]: readable[name] });
    if (fault === undefined) continue;
    wrong[name] = fault;
    delete readable[name];
  }
  return { query: readable, wrong };
}

function faultOf(query: RequestQuery): string | undefined {
  try {
    filterOf(query);
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
    throw error;
  }
}

/** The address of a filter with some values changed; undefined takes one away. */
export function requestsPath(
  path: string,
  query: RequestQuery,
  change: RequestQuery & { cursor?: string; format?: string } = {},
): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, ...change })) {
    if (value !== undefined && value !== '') words.set(name, value);
  }
  return words.size === 0 ? path : `${path}?${words.toString()}`;
}
