import { GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import { headerSafe } from '../../../http/request-body.js';
import { spendingEndpoint } from '../../../pipeline/fallback.js';
import type { RequestFormat } from '../../../pipeline/modality.js';
import type { ModerationBody } from '../../../schema-types/moderation.js';
import { checkAddresses, checkImageUrl } from '../../../upstream/client-url.js';
import type { ModerationCall, ModerationReply } from '../codec.js';

/** A moderation request as the chosen model takes it. */
export interface ModerationWork {
  call: ModerationCall;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
}

/** How clients speak to the moderation modality. */
export interface ModerationFormat extends RequestFormat {
  /** Fits a body that satisfies the format's schema to a model. Throws `GatewayError`. */
  read(body: object, model: Model): ModerationWork;
  write(request_id: string, model: Model, reply: ModerationReply): object;
}

/** The model of clients that name none, as at OpenAI. */
const DEFAULT_MODEL = 'omni-moderation-latest';

/** OpenAI's own contract of moderations. */
export const moderation: ModerationFormat = {
  name: 'moderation',
  endpoint: spendingEndpoint('moderations', 'POST /v1/moderations', {
    modality: 'moderation',
    format: 'moderation',
  }),
  description: {
    summary: 'Find what may be harmful in texts and images',
    details: `Where \`model\` is left out, that is \`${DEFAULT_MODEL}\`.`,
    status: 200,
    content: { 'application/json': 'moderation#/$defs/answer' },
  },
  texts: { model: 'kept', input: { image_url: 'kept' } },
  modelOf: (body) => (body as ModerationBody).model ?? DEFAULT_MODEL,
  // The schema vouches for the body: its type is made from it.
  read: (body, model) => moderationWork(body as ModerationBody, model),
  write: (request_id, { id }, { results }) => ({ id: `modr-${request_id}`, model: id, results }),
};

/** Read by the gateway itself, so neither sent on as they are nor named as ignored. */
const OWN = new Set(['model', 'input']);

function moderationWork(body: ModerationBody, model: Model): ModerationWork {
  const { input } = body;
  const results = resultsOf(input);
  const others = Object.entries(body).filter(([name]) => !OWN.has(name));
  const sent = others.filter(([name]) => model.passthrough.has(name));
  for (const [name, value] of sent) checkAddresses(value, name);
  const left = others.filter(([name]) => !model.passthrough.has(name));
  return {
    call: { input, results, fields: Object.fromEntries(sent) },
    ignored: [...new Set(left.map(([name]) => headerSafe(name)))],
  };
}

/** One text, a list of texts, or the texts and images that are judged together. */
function resultsOf(input: ModerationBody['input']): number {
  if (typeof input === 'string') return 1;
  const texts = input.filter((one) => typeof one === 'string');
  if (texts.length === input.length) return texts.length;
  if (texts.length > 0) refuse('input', 'must be a list of texts or of parts, not a mixture');
  input.forEach((part, at) => {
    if (typeof part === 'string') return;
    const { type, text, image_url } = part;
    const place = `input[${at}]`;
    if (type === 'text') {
      if (text === undefined) refuse(`${place}.text`, 'is required');
      if (image_url) refuse(`${place}.image_url`, 'does not belong to a text');
    } else {
      if (!image_url) refuse(`${place}.image_url`, 'is required');
      if (text !== undefined) refuse(`${place}.text`, 'does not belong to an image');
      if (image_url) checkImageUrl(image_url.url, `${place}.image_url.url`);
    }
  });
  return 1;
}

function refuse(param: string, complaint: string): never {
  throw new GatewayError('invalid_request', `${param} ${complaint}.`, { param });
}
