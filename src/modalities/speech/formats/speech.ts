import { GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import { headerSafe } from '../../../http/request-body.js';
import { spendingEndpoint } from '../../../pipeline/fallback.js';
import type { RequestFormat } from '../../../pipeline/modality.js';
import type { SpeechBody } from '../../../schema-types/speech.js';
import { checkAddresses } from '../../../upstream/client-url.js';
import type { SpeechCall } from '../codec.js';

/** A speech request as the chosen model takes it. */
export interface SpeechWork {
  call: SpeechCall;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
}

/** How clients speak to the speech modality; the answer is sound in every format. */
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
  }),
  description: {
    summary: 'Make speech of a text',
    details: 'The answer is the sound itself, in the format that was asked for, as it is made.',
    status: 200,
    content: { 'audio/*': 'bytes' },
  },
  texts: { model: 'kept', voice: 'kept', response_format: 'kept', stream_format: 'kept' },
  modelOf: (body) => (body as SpeechBody).model,
  // The schema vouches for the body: its type is made from it.
  read: (body, model) => speechWork(body as SpeechBody, model),
};

/** Read by the gateway itself, so neither sent on as they are nor named as ignored. */
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
  const others = Object.entries(body).filter(([name]) => !OWN.has(name));
  const sent = others.filter(([name]) => model.passthrough.has(name));
  for (const [name, value] of sent) checkAddresses(value, name);
  const left = others.filter(([name]) => !model.passthrough.has(name));
  return {
    call: { input, voice, instructions, format, speed, fields: Object.fromEntries(sent) },
    ignored: [...new Set(left.map(([name]) => headerSafe(name)))],
  };
}
