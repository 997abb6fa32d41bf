import { passthroughFields } from '../../../pipeline/passthrough.js';
import { type Bill, leastTokens } from '../../../billing/bill.js';
import { dropNulls } from '../../../lib/objects.js';
import { GatewayError, refuseField } from '../../../core/errors.js';
import { publicName, type Model } from '../../../core/model.js';
import type { RequestFormat } from '../../../pipeline/modality.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import { OPENAI_BASE } from '../../../pipeline/second-path.js';
import type { EmbeddingBody } from '../../../schema-types/embedding.js';
import type { EmbeddingCall, EmbeddingInput, Vector } from '../codec.js';
import { inFormat } from '../vector.js';

/** An embedding request as the chosen model takes it. */
export interface EmbeddingWork {
  call: EmbeddingCall;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
}

/** A client format of the embedding modality. */
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
    also: OPENAI_BASE,
  }),
  description: {
    summary: 'Create embeddings',
    details: 'With `encoding_format: base64` each is float32, little endian.',
    status: 200,
    content: { 'application/json': 'embedding-response' },
  },
  repair: dropNulls,
  texts: { model: 'kept', encoding_format: 'kept' },
  modelOf: (body) => (body as EmbeddingBody).model,
  // The body satisfies the schema from which its type is generated.
  read: (body, model) => embeddingWork(body as EmbeddingBody, model),
  write: (model, { encoding_format }, vectors, { usage: { prompt_tokens } }) => ({
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: inFormat(vector, encoding_format),
    })),
    model: publicName(model),
    usage: { prompt_tokens, total_tokens: prompt_tokens },
  }),
};

/** The most inputs of one request. */
const MAX_INPUTS = 2_048;

/** Fields that the gateway reads itself: neither passed through nor reported as ignored. */
const OWN = new Set(['model', 'input', 'dimensions', 'encoding_format']);

/** Fits a valid body to a model. Throws `GatewayError` for what the model cannot take. */
export function embeddingWork(body: EmbeddingBody, model: Model): EmbeddingWork {
  const inputs = inputsOf(body.input);
  const isList = Array.isArray(body.input) && inputs.length > 1;
  checkInputs(inputs, model, 'input', (at) => (isList ? `input[${at}]` : 'input'));
  const isSent = (name: string) => name === 'user' || model.passthrough.has(name);
  const { fields, ignored } = passthroughFields(body, OWN, isSent);
  const { dimensions, encoding_format = 'float' } = body;
  return { call: { inputs, dimensions, encoding_format, fields }, ignored };
}

/** One text, a list of texts, the tokens of one text, or a list of the tokens of texts. */
function inputsOf(input: EmbeddingBody['input']): readonly EmbeddingInput[] {
  if (typeof input === 'string') return [input];
  const tokens = input.filter((one) => typeof one === 'number');
  if (tokens.length === input.length) return [tokens];
  const inputs = input.filter((one) => typeof one !== 'number');
  const [first] = inputs;
  if (tokens.length === 0 && inputs.every((one) => typeof one === typeof first)) return inputs;
  return refuseField(
    'input',
    'must be a list of texts, of tokens or of token lists, not a mixture',
  );
}

/** Throws `GatewayError` for inputs that the model does not take. `placeOf` names one of them. */
export function checkInputs(
  inputs: readonly EmbeddingInput[],
  model: Model,
  list: string,
  placeOf: (at: number) => string,
): void {
  if (inputs.length > MAX_INPUTS) {
    refuseField(list, `must be a list of at most ${MAX_INPUTS}, not of ${inputs.length}`);
  }
  inputs.forEach((input, at) => checkInput(input, placeOf(at), model));
}

function checkInput(input: EmbeddingInput, param: string, { id, limits }: Model): void {
  if (input.length === 0) refuseField(param, 'must not be empty');
  const min_tokens =
    typeof input === 'string' ? leastTokens(Buffer.byteLength(input)) : input.length;
  if (limits.context === undefined || min_tokens <= limits.context) return;
  const message = `${param} has more than the ${limits.context} tokens that ${id} takes.`;
  throw new GatewayError('context_length_exceeded', message, { param });
}
