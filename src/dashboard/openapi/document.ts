import type { Configuration } from '../../core/configuration.js';
import { packageFacts } from '../../lib/package-root.js';
import type { ApiRoute } from '../api/action-routes.js';
import { componentSchemas, errorResponses, type Json } from './components.js';
import { endpointOperation } from './endpoints.js';
import { managementOperation, pathOf } from './management.js';

const DESCRIPTION = [
  'Models under `/v1`, for an API key; people and their money under `/api`, for a session. ' +
    'Programs manage accounts there with a management token.',
  'Amounts are dollars as decimal text, exact; times there are ISO 8601, days those of UTC.',
  'Each answer has an `x-request-id`, by which `/api/ledger?reference=` finds its charge.',
].join('\n\n');

const TOKEN_USE =
  'A management token, `tgm_…`, which `tollgate token create` makes, or an operator on a page. ' +
  'Each operation names the scope that it needs. No `Origin` is needed.';

const SECURITY = {
  key: { type: 'http', scheme: 'bearer', description: 'An API key: `tg-…`' },
  token: { type: 'http', scheme: 'bearer', description: TOKEN_USE },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'session',
    description:
      'The session of a signed-in person. A write needs an `Origin` equal to that of ' +
      '`public_url`, or `Sec-Fetch-Site: same-origin`, as browsers send them.',
  },
};

const TAGS = [
  { name: 'Models', description: 'Calls to models, with an API key' },
  { name: 'Account', description: 'The own account of a signed-in person' },
  { name: 'Operators', description: 'The management of the gateway, for operators' },
];

/** The OpenAPI document of every path that this configuration serves to a key or a session. */
export function openApi(
  { public_url, endpoints }: Pick<Configuration, 'public_url' | 'endpoints'>,
  routes: readonly ApiRoute[],
) {
  const paths: Record<string, Json> = {};
  const at = (path: string): Json => (paths[path] ??= {});
  const taken = new Set(routes.map(({ about }) => about.id));
  for (const endpoint of endpoints) {
    const { name, method, path } = endpoint;
    const id = taken.has(name) ? `${name}Endpoint` : name;
    at(path)[method.toLowerCase()] = endpointOperation(endpoint, id);
  }
  for (const route of routes) {
    at(pathOf(route))[route.method.toLowerCase()] = managementOperation(route);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Tollgate', description: DESCRIPTION, version: packageFacts().version },
    servers: [{ url: public_url }],
    tags: TAGS,
    paths,
    components: {
      securitySchemes: SECURITY,
      schemas: componentSchemas(),
      responses: errorResponses(),
    },
  };
}
