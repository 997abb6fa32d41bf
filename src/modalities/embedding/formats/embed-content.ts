import { isDeepStrictEqual } from 'node:util';
import { passthroughFields } from '../../../pipeline/passthrough.js';
import { refuseField } from '../../../core/errors.js';
import { publicName, type Model } from '../../../core/model.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import { STABLE_VERSION } from '../../../pipeline/second-path.js';
import type { TextFields } from '../../../pipeline/text-walk.js';
import type {
  BatchEmbedContentsBody,
  EmbedRequest,
} from '../../../schema-types/batch-embed-contents.js';
import { BodyShape } from '../../chat/formats/body-shape.js';
import { CONTENT_API } from '../../chat/formats/content-api.js';
import { normalizeSpelling } from '../../chat/formats/generate-content-spelling.js';
import { inFormat } from '../vector.js';
import { checkInputs, type EmbeddingFormat, type EmbeddingWork } from './embedding.js';

const REQUEST = new BodyShape('embed-content');
const BATCH = new BodyShape('batch-embed-contents');
const REQUEST_TEXTS: TextFields = {
  model: 'kept',
  taskType: 'kept',
  content: { role: 'kept' },
};

/** The Gemini API's embedding of one content. */
export const embedContent: EmbeddingFormat = {
  ...CONTENT_API,
  name: 'embed-content',
  endpoint: spendingEndpoint('embed-content', 'POST /v1beta/models/{model}:embedContent', {
    modality: 'embedding',
    format: 'embed-content',
    also: STABLE_VERSION,
  }),
  description: {
    summary: "Create an embedding, in Gemini's format",
    status: 200,
    content: { 'application/json': 'embed-content#/$defs/answer' },
  },
  normalize: (body) => normalizeSpelling(body, REQUEST),
  texts: REQUEST_TEXTS,
  // The body was validated: its schema is a part of the one from which the type is generated.
  read: (body, model) => {
    const { dimensions, ...request } = body as EmbedRequest & Others;
    return contentWork([request], { ...(dimensions && { dimensions }) }, model, () => '');
  },
  write: (_model, _call, [vector = []], { usage }) => ({
    embedding: { values: inFormat(vector, 'float') },
    usageMetadata: { promptTokenCount: usage.prompt_tokens },
  }),
};

/** The Gemini API's embeddings of many contents, which Google's SDKs ask for one, too. */
export const batchEmbedContents: EmbeddingFormat = {
  ...CONTENT_API,
  name: 'batch-embed-contents',
  endpoint: spendingEndpoint(
    'batch-embed-contents',
    'POST /v1beta/models/{model}:batchEmbedContents',
    { modality: 'embedding', format: 'batch-embed-contents', also: STABLE_VERSION },
  ),
  description: {
    summary: "Create embeddings, in Gemini's format",
    status: 200,
    content: { 'application/json': 'batch-embed-contents#/$defs/answer' },
  },
  normalize: (body) => normalizeSpelling(body, BATCH),
  texts: { requests: REQUEST_TEXTS },
  // The body was validated, and its type is generated from the schema.
  read: (body, model) => {
    const { requests, ...others } = body as BatchEmbedContentsBody;
    return contentWork(requests, others, model, (at) => `requests[${at}].`);
  },
  write: (_model, _call, vectors, { usage }) => ({
    embeddings: vectors.map((vector) => ({ values: inFormat(vector, 'float') })),
    usageMetadata: { promptTokenCount: usage.prompt_tokens },
  }),
};

/** Fields that the gateway reads itself: neither passed through nor reported as ignored. */
const OWN = new Set(['model', 'content', 'outputDimensionality', 'dimensions']);

/**
 * The requests as one call, with the fields `others` beside them. `placeOf` begins the names of the
 * fields of a request. Throws `GatewayError` for what the model cannot take.
 */
function contentWork(
  requests: readonly EmbedRequest[],
  others: Others,
  model: Model,
  placeOf: (at: number) => string,
): EmbeddingWork {
  const name = publicName(model);
  const inputs = requests.map(({ model: named = name, content }, at) => {
    if (named.replace(/^models\//u, '') !== name) {
      refuseField(`${placeOf(at)}model`, 'must be the model of the path');
    }
    return textOfContent(content, `${placeOf(at)}content`);
  });
  checkInputs(inputs, model, 'requests', (at) => `${placeOf(at)}content`);
  const isSent = (field: string) => model.passthrough.has(field);
  const shared = sharedFields(requests, placeOf, (field) => {
    return field === 'outputDimensionality' || isSent(field);
  });
  const { fields, ignored } = passthroughFields({ ...others, ...shared }, OWN, isSent);
  const dimensions = requests[0]?.outputDimensionality ?? others.dimensions;
  return { call: { inputs, dimensions, encoding_format: 'float', fields }, ignored };
}

/** Fields beside the requests. */
interface Others {
  dimensions?: number;
}

function textOfContent({ parts }: EmbedRequest['content'], place: string): string {
  const texts = parts.map(
    ({ text }, at) => text ?? refuseField(`${place}.parts[${at}]`, 'must be a text'),
  );
  return texts.join('\n');
}

/** All fields of the requests, which are sent as one: `isUsed` are those that must be the same. */
function sharedFields(
  requests: readonly EmbedRequest[],
  placeOf: (at: number) => string,
  isUsed: (field: string) => boolean,
): Readonly<Record<string, unknown>> {
  const all = requests.map((request) => new Map<string, unknown>(Object.entries(request)));
  const shared = new Map(all.flatMap((fields) => [...fields]));
  for (const [field, value] of shared) {
    const other = all.findIndex((fields) => !isDeepStrictEqual(fields.get(field), value));
    if (isUsed(field) && other !== -1) {
      refuseField(`${placeOf(other)}${field}`, 'must be the same in all requests');
    }
  }
  return Object.fromEntries(shared);
}
