import type { Bill } from '../../../billing/bill.js';
import { GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import { headerSafe } from '../../../http/request-body.js';
import type { RequestFormat } from '../../../pipeline/modality.js';
import { spendingEndpoint } from '../../../pipeline/fallback.js';
import type { EmbeddingBody } from '../../../schema-types/embedding.js';
import { checkAddresses } from '../../../upstream/client-url.js';
import type { EmbeddingCall, EmbeddingInput, Vector } from '../codec.js';
import { inFormat } from '../vector.js';

/** An embedding request as the chosen model takes it. */
export interface EmbeddingWork {
  call: EmbeddingCall;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
}

/** How clients speak to the embedding modality. */
export interface EmbeddingFormat extends RequestFormat {
  /** Fits a body that satisfies the format's schema to a model. Throws `GatewayError`. */
  read(body: object, model: Model): EmbeddingWork;
  write(model: Model, call: EmbeddingCall, vectors: readonly Vector[], bill: Bill): object;
}

/** OpenAI's own contract of embeddings. */
export const embedding: EmbeddingFormat = {
  name: 'embedding',
  endpoint: spendingEndpoint('embeddings', 'POST /v1/embeddings', {
    modality: 'embedding',
    format: 'embedding',
  }),
  description: {
    summary: 'Create embeddings',
    details: 'With `encoding_format: base64` each is float32, little endian.',
    status: 200,
    content: { 'application/json': 'embedding-response' },
  },
  texts: { model: 'kept', encoding_format: 'kept' },
  modelOf: (body) => (body as EmbeddingBody).model,
  // The schema vouches for the body: its type is made from it.
  read: (body, model) => embeddingWork(body as EmbeddingBody, model),
  write: ({ id }, { encoding_format }, vectors, { usage: { prompt_tokens } }) => ({
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: inFormat(vector, encoding_format),
    })),
    model: id,
    usage: { prompt_tokens, total_tokens: prompt_tokens },
  }),
};

/** The same beside the other endpoints in OpenAI's own words. */
export const openAiEmbeddings = spendingEndpoint(
  'openai-embeddings',
  'POST /openai/v1/embeddings',
  { modality: 'embedding', format: 'embedding' },
);

/** The most inputs of one request. */
const MOST_INPUTS = 2_048;
/** The longest token of a known vocabulary, so that a longer text has certainly more tokens. */
const LONGEST_TOKEN_BYTES = 128;

/** Read by the gateway itself, so neither sent on as they are nor named as ignored. */
const OWN = new Set(['model', 'input', 'dimensions', 'encoding_format']);

/** Fits a valid body to a model. Throws `GatewayError` for what the model cannot take. */
export function embeddingWork(body: EmbeddingBody, model: Model): EmbeddingWork {
  const inputs = inputsOf(body.input);
  if (inputs.length > MOST_INPUTS) {
    refuse('input', `must be a list of at most ${MOST_INPUTS}, not of ${inputs.length}`);
  }
  inputs.forEach((input, at) => {
    const param = Array.isArray(body.input) && inputs.length > 1 ? `input[${at}]` : 'input';
    checkInput(input, param, model);
  });
  const others = Object.entries(body).filter(([name]) => !OWN.has(name));
  const travels = ([name]: [string, unknown]) => name === 'user' || model.passthrough.has(name);
  const sent = others.filter(travels);
  for (const [name, value] of sent) checkAddresses(value, name);
  const { dimensions, encoding_format = 'float' } = body;
  const call = { inputs, dimensions, encoding_format, fields: Object.fromEntries(sent) };
  const left = others.filter((other) => !travels(other));
  return { call, ignored: [...new Set(left.map(([name]) => headerSafe(name)))] };
}

/** One text, a list of texts, the tokens of one text, or a list of the tokens of texts. */
function inputsOf(input: EmbeddingBody['input']): readonly EmbeddingInput[] {
  if (typeof input === 'string') return [input];
  const tokens = input.filter((one) => typeof one === 'number');
  if (tokens.length === input.length) return [tokens];
  const inputs = input.filter((one) => typeof one !== 'number');
  const [first] = inputs;
  if (tokens.length === 0 && inputs.every((one) => typeof one === typeof first)) return inputs;
  return refuse('input', 'must be a list of texts, of tokens or of token lists, not a mixture');
}

function checkInput(input: EmbeddingInput, param: string, { id, limits }: Model): void {
  if (input.length === 0) refuse(param, 'must not be empty');
  const least =
    typeof input === 'string'
      ? Math.ceil(Buffer.byteLength(input) / LONGEST_TOKEN_BYTES)
      : input.length;
  if (limits.context === undefined || least <= limits.context) return;
  const message = `${param} has more than the ${limits.context} tokens that ${id} takes.`;
  throw new GatewayError('context_length_exceeded', message, { param });
}

function refuse(param: string, complaint: string): never {
  throw new GatewayError('invalid_request', `${param} ${complaint}.`, { param });
}
