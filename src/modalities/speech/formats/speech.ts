import { passthroughFields } from '../../../pipeline/passthrough.js';
import { GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import { dropNulls } from '../../../lib/objects.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import { OPENAI_BASE } from '../../../pipeline/second-path.js';
import type { RequestFormat } from '../../../pipeline/modality.js';
import type { SpeechBody } from '../../../schema-types/speech.js';
import type { SpeechCall } from '../codec.js';

/** A speech request as the chosen model takes it. */
export interface SpeechWork {
  call: SpeechCall;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
}

/** A client format of the speech modality. The answer is sound in every format. */
export interface SpeechFormat extends RequestFormat {
  /** Fits a body that satisfies the format's schema to a model. Throws `GatewayError`. */
  read(body: object, model: Model): SpeechWork;
}

/** OpenAI's own contract of speech. */
export const speech: SpeechFormat = {
  name: 'speech',
  endpoint: spendingEndpoint('speech', 'POST /v1/audio/speech', {
    modality: 'speech',
    format: 'speech',
    also: OPENAI_BASE,
  }),
  description: {
    summary: 'Convert text to speech',
    details: 'The answer is the sound itself, in the format that was asked for, as it is made.',
    status: 200,
    content: { 'audio/*': 'bytes' },
  },
  texts: { model: 'kept', voice: 'kept', response_format: 'kept', stream_format: 'kept' },
  repair: dropNulls,
  modelOf: (body) => (body as SpeechBody).model,
  // The body satisfies the schema from which its type is generated.
  read: (body, model) => speechWork(body as SpeechBody, model),
};

/** Fields that the gateway reads itself: neither passed through nor reported as ignored. */
const OWN = new Set([
  'model',
  'input',
  'voice',
  'instructions',
  'response_format',
  'speed',
  'stream_format',
]);

export const DEFAULT_FORMAT = 'mp3';

function speechWork(body: SpeechBody, model: Model): SpeechWork {
  const { input, voice, instructions, response_format: format = DEFAULT_FORMAT, speed } = body;
  if (body.stream_format === 'sse') {
    const message = 'stream_format must be audio: sound comes as it is made, without events.';
    throw new GatewayError('invalid_request', message, { param: 'stream_format' });
  }
  const { fields, ignored } = passthroughFields(body, OWN, (name) => model.passthrough.has(name));
  return { call: { input, voice, instructions, format, speed, fields }, ignored };
}
