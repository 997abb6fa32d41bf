import type { EndpointEntry } from '../../core/configuration.js';
import { MODALITIES } from '../../modalities/index.js';
import { formatOf, type Description, type RequestFormat } from '../../pipeline/modality.js';
import { errorsOf, json, queryParameters, schemaOf, type Json } from './components.js';

const BYTES = { schema: { type: 'string', contentMediaType: 'application/octet-stream' } };

const PART = 'The range of the bytes that the header `Range` asks for.';

const HOSTED_IMAGE: Description = {
  summary: 'Download an image',
  status: 200,
  content: { 'image/*': 'bytes' },
  refusals: [404],
};

const IDEMPOTENCY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A name for this request, new for each. A client that saw no answer repeats the request ' +
    'under the same key, is answered as the first time (`idempotent-replayed: true`), and is ' +
    'charged once. Streams are not kept, so there it is ignored.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]*$' },
};

const UNKNOWN: Work = {
  summary: 'Call a custom endpoint of this gateway',
  status: 200,
  content: {},
};

/** The statuses of refusals, by the facts that the stages of the endpoint give. */
const REFUSALS: Readonly<Record<string, readonly number[]>> = {
  caller: [401, 403, 429],
  request: [400, 408, 413, 415],
  work: [400],
  task: [400],
};

/** An endpoint of gateway.yaml, with any path and stages. */
export function endpointOperation(endpoint: EndpointEntry, id: string): Json {
  const { gives = [], money = [], answers = '' } = endpoint.traits ?? {};
  const {
    summary,
    details,
    body,
    status,
    content,
    query,
    refusals = [],
    ...work
  } = workOf(endpoint);
  const error = work.error_schema ?? formatOf(MODALITIES, endpoint)?.error_schema;
  const parameters = [...parametersOf(endpoint), ...queryParameters(query)];
  const facts = gives.map((one) => one.split(':', 1)[0] ?? one);
  const known = facts.flatMap((one) => REFUSALS[one] ?? []);
  if (money.some((one) => one === 'holds' || one === 'gates')) known.push(402);
  if (OPERATIONS.has(answers)) known.push(400, 502);
  // The stage that holds money also recognises an `Idempotency-Key`.
  const isRepeatable = money.includes('holds');
  if (isRepeatable) known.push(409);
  return {
    operationId: id,
    tags: ['Models'],
    summary,
    ...(details && { description: details }),
    security: facts.includes('caller') ? [{ key: [] }] : [],
    parameters: [...parameters, ...(isRepeatable ? [IDEMPOTENCY] : [])],
    ...(body && { requestBody: { required: true, content: bodyContent(body) } }),
    responses: {
      [status]: { description: summary, ...contentOf(content, error) },
      ...(refusals.includes(416) && { 206: { description: PART, ...contentOf(content) } }),
      ...errorsOf([...known, ...refusals, 500, 503], error),
    },
  };
}

/** A body is JSON; where its format says so, it may also be a form. */
function bodyContent(format: string): Json {
  const schema = schemaOf(format);
  if (!FORMS.has(format)) return json(schema);
  return { 'multipart/form-data': { schema }, ...json(schema) };
}

/** The description of an endpoint, and the format of its body. */
interface Work extends Description {
  body?: string;
}

const MODALITY_LIST = [...MODALITIES.values()];
const FORMAT_LIST = MODALITY_LIST.flatMap(({ formats }) => formats);
const FORMATS = new Map(
  FORMAT_LIST.map(({ name, description }) => [name, { ...description, body: name }] as const),
);
const FORMS = new Set(FORMAT_LIST.filter(({ form }) => form).map(({ name }) => name));
const OPERATIONS = new Map(
  MODALITY_LIST.flatMap(({ operations }) =>
    operations.map(({ name, format, description }) => [
      name,
      description ?? FORMATS.get(format ?? ''),
    ]),
  ),
);

/** Found by the format that the endpoint reads, or by what it answers with. */
function workOf(endpoint: EndpointEntry): Work {
  const { gives = [], answers = '' } = endpoint.traits ?? {};
  const read = gives.flatMap((one) => FORMATS.get(/^request:(.+)$/u.exec(one)?.[1] ?? '') ?? []);
  if (answers === 'hosted-image') return HOSTED_IMAGE;
  if (answers === 'models' || answers === 'model')
    return modelsOf(answers, formatOf(MODALITIES, endpoint));
  return read[0] ?? OPERATIONS.get(answers) ?? UNKNOWN;
}

/** The list of models, or one of them. */
function modelsOf(answers: 'models' | 'model', format: RequestFormat | undefined): Description {
  const isOne = answers === 'model';
  const { schema = 'model-list' } = format?.models ?? {};
  const others =
    'Clients that send `anthropic-version`, `x-api-key` or `x-goog-api-key` are answered in ' +
    "Anthropic's or Google's format.";
  return {
    summary: isOne ? 'Get a model' : 'List models',
    ...(!format && { details: others }),
    status: 200,
    content: { 'application/json': isOne ? `${schema}#/$defs/model` : schema },
    ...(isOne && { refusals: [404] }),
  };
}

/** The last event of a stream that was cut is an error. */
function contentOf(content: Description['content'], error = 'error'): Json {
  const types = Object.entries(content);
  if (types.length === 0) return {};
  const each = types.map(([type, name]) => {
    if (name === 'bytes') return [type, BYTES];
    const schema = schemaOf(name);
    const isStream = type === 'text/event-stream';
    return [type, { schema: isStream ? { anyOf: [schema, schemaOf(error)] } : schema }];
  });
  return { content: Object.fromEntries(each) as Json };
}

function parametersOf({ path }: EndpointEntry): Json[] {
  return [...path.matchAll(/\{(\w+)\}/gu)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    ...(name === 'model' && { description: 'A model’s ID; slashes may stand as they are.' }),
    schema: { type: 'string' },
  }));
}
