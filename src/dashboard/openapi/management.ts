import { isList } from '../../actions/action.js';
import type { ApiRoute } from '../api/action-routes.js';
import { answerOf, errorsOf, json, queryParameters, schemaOf, type Json } from './components.js';

/** The path of a route as the document writes it: `/api/keys/{keyID}`. */
export function pathOf({ path }: ApiRoute): string {
  return path.replaceAll(/:(\w+)/gu, '{$1}');
}

/** One route of the management API. */
export function managementOperation(route: ApiRoute): Json {
  const { action, about, access, method, scope, takes_keys } = route;
  const { schema } = action;
  const isRead = method === 'GET';
  return {
    operationId: about.id,
    tags: [access === 'operator' ? 'Operators' : 'Account'],
    summary: about.summary,
    security: [
      ...(takes_keys === 'alone' ? [] : [{ session: [] }]),
      ...(scope ? [{ token: [scope] }] : []),
      ...(takes_keys ? [{ key: [] }] : []),
    ],
    parameters: [...pathParameters(route), ...queryParameters(isRead ? schema : undefined)],
    ...(schema && !isRead && { requestBody: { required: true, content: json(schemaOf(schema)) } }),
    responses: { [about.status]: successOf(route), ...errorsOf(refusalsOf(route)) },
  };
}

function successOf({ about, action }: ApiRoute): Json {
  const description = about.summary;
  if (about.answer === undefined) return { description };
  const content = json(answerOf(about.answer));
  if (!isList(action) && action.csv) {
    Object.assign(content, { 'text/csv': { schema: { type: 'string' } } });
  }
  return { description, content };
}

function refusalsOf({ action: { schema }, method, path, access, takes_keys }: ApiRoute): number[] {
  const isWrite = method !== 'GET';
  return [
    401,
    500,
    503,
    ...(schema ? [400] : []),
    ...(schema && isWrite ? [408, 413, 415] : []),
    ...(isWrite || access === 'operator' || takes_keys ? [403] : []),
    ...(takes_keys ? [429] : []),
    ...(path.includes(':') ? [404] : []),
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
