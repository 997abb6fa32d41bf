import type { EndpointEntry } from '../../core/configuration.js';
import { errorsOf, json, schemaOf, type Json, type SchemaFile } from './components.js';

interface Work {
  summary: string;
  description?: string;
  body?: SchemaFile;
  /** The status of success. */
  status: 200 | 202;
  content?: Json;
  refusals?: readonly number[];
}

const BYTES = { schema: { type: 'string', contentMediaType: 'application/octet-stream' } };

/** What an endpoint does, by what its stage `transform` names, or else by the stage itself. */
const WORKS: Readonly<Record<string, Work>> = {
  chat: {
    summary: 'Create a chat completion',
    description: 'With `stream: true` the answer is a stream of events that ends with `[DONE]`.',
    body: 'chat-completion',
    status: 200,
    content: {
      ...json(schemaOf('chat-completion-response')),
      'text/event-stream': { schema: schemaOf('chat-completion-chunk') },
    },
  },
  image: {
    summary: 'Make images',
    body: 'image-generation',
    status: 200,
    content: json(schemaOf('image-generation-response')),
  },
  'video.submit': {
    summary: 'Submit a video task',
    description: 'Answers at once; ask `status_url` how far it is, and `response_url` when done.',
    body: 'video-submission',
    status: 202,
    content: json(schemaOf('video-submission-response')),
  },
  'video.status': {
    summary: 'Ask how far a video task is',
    description: 'Costs nothing.',
    status: 200,
    content: json(schemaOf('video-status')),
  },
  'video.result': {
    summary: 'Fetch the result of a video task',
    description: 'The first fetch of a `COMPLETED` task is charged, and no other.',
    status: 200,
    content: json(schemaOf('video-result')),
  },
  'video.content': {
    summary: 'Download a video',
    status: 200,
    content: { 'video/mp4': BYTES },
    refusals: [416],
  },
  models: { summary: 'List the models', status: 200, content: json(schemaOf('model-list')) },
  'hosted-image': {
    summary: 'Fetch an image',
    status: 200,
    content: { 'image/*': BYTES },
    refusals: [404],
  },
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

const UNKNOWN: Work = { summary: 'An endpoint of the operator’s own', status: 200 };

/** What a request may be refused with, by the stages that it walks through. */
const REFUSALS: Readonly<Record<string, readonly number[]>> = {
  auth: [401, 429],
  validate: [400, 408, 413],
  route: [400],
  balance: [402],
  transform: [400, 502],
};

/** An endpoint as gateway.yaml mounts it, whatever its path and its stages. */
export function endpointOperation(endpoint: EndpointEntry, id: string): Json {
  const { stages } = endpoint;
  const { summary, description, body, status, content, refusals = [] } = workOf(endpoint);
  const known = stages.flatMap(({ name }) => REFUSALS[name] ?? []);
  if (isRepeatable(endpoint)) known.push(409);
  return {
    operationId: id,
    tags: ['Models'],
    summary,
    ...(description && { description }),
    security: stages.some(({ name }) => name === 'auth') ? [{ key: [] }] : [],
    parameters: [...parametersOf(endpoint), ...(isRepeatable(endpoint) ? [IDEMPOTENCY] : [])],
    ...(body && { requestBody: { required: true, content: json(schemaOf(body)) } }),
    responses: {
      [status]: { description: summary, ...(content && { content }) },
      ...errorsOf([...known, ...refusals, 500, 503]),
    },
  };
}

function workOf({ stages }: EndpointEntry): Work {
  for (const { name, option } of stages) {
    const work = WORKS[name === 'transform' ? String(option) : name];
    if (work) return work;
  }
  return UNKNOWN;
}

/** The stage that holds the money is also the one that knows a request again. */
function isRepeatable({ stages }: EndpointEntry): boolean {
  return stages.some(({ name, option }) => name === 'balance' && option !== 'gate');
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
