import type { ApiRoute } from '../api/route.js';
import { answerOf, errorsOf, json, queryParameters, schemaOf, type Json } from './components.js';

/** The path of a route as the document writes it: `/api/keys/{keyID}`. */
export function pathOf({ path }: ApiRoute): string {
  return path.replaceAll(/:(\w+)/gu, '{$1}');
}

/** One route of the management API. */
export function managementOperation(route: ApiRoute): Json {
  const { about, access } = route;
  const { body } = about;
  return {
    operationId: about.id,
    tags: [access === 'operator' ? 'Operators' : 'Account'],
    summary: about.summary,
    security: [
      { session: [] },
      ...(route.scope ? [{ token: [route.scope] }] : []),
      ...(route.takes_keys ? [{ key: [] }] : []),
    ],
    parameters: [...pathParameters(route), ...queryParameters(about.query)],
    ...(body && { requestBody: { required: true, content: json(schemaOf(body)) } }),
    responses: { [about.status]: successOf(route), ...errorsOf(refusalsOf(route)) },
  };
}

function successOf({ about }: ApiRoute): Json {
  const description = about.summary;
  if (about.answer === undefined) return { description };
  const content = json(answerOf(about.answer));
  if (about.csv) Object.assign(content, { 'text/csv': { schema: { type: 'string' } } });
  return { description, content };
}

function refusalsOf({ about, method, access, takes_keys }: ApiRoute): number[] {
  const isWrite = method !== 'GET';
  return [
    401,
    500,
    503,
    ...(about.query || about.body ? [400] : []),
    ...(about.body ? [408, 413, 415] : []),
    ...(isWrite || access === 'operator' || takes_keys ? [403] : []),
    ...(takes_keys ? [429] : []),
    ...(about.unknown ? [404] : []),
  ];
}

function pathParameters({ path }: ApiRoute): Json[] {
  return [...path.matchAll(/:(\w+)/gu)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}
