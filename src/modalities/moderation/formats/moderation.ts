import { passthroughFields } from '../../../pipeline/passthrough.js';
import { dropNulls, isRecord, recordsIn } from '../../../lib/objects.js';
import { tidyPictureUrl } from '../../../lib/tidy-media.js';
import { refuseField } from '../../../core/errors.js';
import { publicName, type Model } from '../../../core/model.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import { OPENAI_BASE } from '../../../pipeline/second-path.js';
import type { RequestFormat } from '../../../pipeline/modality.js';
import type { ModerationBody } from '../../../schema-types/moderation.js';
import { checkImageUrl } from '../../../upstream/client-url.js';
import type { ModerationCall, ModerationReply } from '../codec.js';

/** A moderation request as the chosen model takes it. */
export interface ModerationWork {
  call: ModerationCall;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
}

/** A client format of the moderation modality. */
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
    also: OPENAI_BASE,
  }),
  description: {
    summary: 'Moderate texts and images',
    details: `Where \`model\` is left out, that is \`${DEFAULT_MODEL}\`.`,
    status: 200,
    content: { 'application/json': 'moderation#/$defs/answer' },
  },
  repair: repairBody,
  texts: { model: 'kept', input: { image_url: 'kept' } },
  modelOf: (body) => (body as ModerationBody).model ?? DEFAULT_MODEL,
  // The body satisfies the schema from which its type is generated.
  read: (body, model) => moderationWork(body as ModerationBody, model),
  write: (request_id, model, { results }) => ({
    id: `modr-${request_id}`,
    model: publicName(model),
    results,
  }),
};

/** Drops the nulls of optional fields, also of the parts of an input. */
function repairBody(body: unknown): boolean {
  const inputs = isRecord(body) ? recordsIn(body.input) : [];
  return [body, ...inputs].filter((one) => dropNulls(one)).length > 0;
}

/** Fields that the gateway reads itself: neither passed through nor reported as ignored. */
const OWN = new Set(['model', 'input']);

function moderationWork(body: ModerationBody, model: Model): ModerationWork {
  const { input } = body;
  const results = resultsOf(input);
  const { fields, ignored } = passthroughFields(body, OWN, (name) => model.passthrough.has(name));
  return { call: { input, results, fields }, ignored };
}

/** One text, a list of texts, or the texts and images that are judged together. */
function resultsOf(input: ModerationBody['input']): number {
  if (typeof input === 'string') return 1;
  const texts = input.filter((one) => typeof one === 'string');
  if (texts.length === input.length) return texts.length;
  if (texts.length > 0) refuseField('input', 'must be a list of texts or of parts, not a mixture');
  input.forEach((part, at) => {
    if (typeof part === 'string') return;
    const { type, text, image_url } = part;
    const place = `input[${at}]`;
    if (type === 'text') {
      if (text === undefined) refuseField(`${place}.text`, 'is required');
      if (image_url) refuseField(`${place}.image_url`, 'does not belong to a text');
    } else {
      if (!image_url) return refuseField(`${place}.image_url`, 'is required');
      if (text !== undefined) refuseField(`${place}.text`, 'does not belong to an image');
      image_url.url = tidyPictureUrl(image_url.url);
      checkImageUrl(image_url.url, `${place}.image_url.url`);
    }
  });
  return 1;
}
