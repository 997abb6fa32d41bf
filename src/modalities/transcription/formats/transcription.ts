import { GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import { headerSafe } from '../../../http/request-body.js';
import { audioTyped, secondsOf, sniffAudio } from '../../../lib/audio-length.js';
import { bytesOfBase64, isDataUrl, mediaTypeOf } from '../../../lib/data-url.js';
import { spendingEndpoint } from '../../../pipeline/fallback.js';
import type { RequestFormat } from '../../../pipeline/modality.js';
import type { TranscriptionBody } from '../../../schema-types/transcription.js';
import { checkAddresses } from '../../../upstream/client-url.js';
import type { TranscriptionCall } from '../codec.js';

/** A transcription request as the chosen model takes it. */
export interface TranscriptionWork {
  call: TranscriptionCall;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
}

/** How clients speak to the transcription modality. */
export interface TranscriptionFormat extends RequestFormat {
  /** Fits a body that satisfies the format's schema to a model. Throws `GatewayError`. */
  read(body: object, model: Model): TranscriptionWork;
}

const CONTENT = {
  'application/json': 'transcription#/$defs/answer',
  'text/plain': 'bytes',
  'application/x-subrip': 'bytes',
  'text/vtt': 'bytes',
};

/** OpenAI's own contract of transcriptions. */
export const transcription: TranscriptionFormat = {
  name: 'transcription',
  endpoint: spendingEndpoint('transcriptions', 'POST /v1/audio/transcriptions', {
    modality: 'transcription',
    format: 'transcription',
  }),
  form: true,
  description: {
    summary: 'Write down what is spoken',
    details: 'A form with a file, or JSON with the same fields, where the file is a `data:` URL.',
    status: 200,
    content: CONTENT,
  },
  texts: {
    model: 'kept',
    file: 'kept',
    language: 'kept',
    response_format: 'kept',
    timestamp_granularities: 'kept',
  },
  modelOf: (body) => (body as TranscriptionBody).model,
  // The schema vouches for the body: its type is made from it.
  read: (body, model) => transcriptionWork(body as TranscriptionBody, model, 'transcribe'),
};

/** OpenAI's own contract of translations: English, whatever is spoken. */
export const translation: TranscriptionFormat = {
  ...transcription,
  name: 'translation',
  endpoint: spendingEndpoint('translations', 'POST /v1/audio/translations', {
    modality: 'transcription',
    format: 'translation',
  }),
  description: {
    summary: 'Write down in English what is spoken',
    details: 'As transcriptions.',
    status: 200,
    content: CONTENT,
  },
  // Its schema refines the one that the type is made from.
  read: (body, model) => transcriptionWork(body as TranscriptionBody, model, 'translate'),
};

/** Read by the gateway itself, so neither sent on as they are nor named as ignored. */
const OWN = new Set(['model', 'file', 'response_format', 'timestamp_granularities', 'stream']);
/** Sent on as they are. */
const TRAVELS = new Set(['language', 'prompt', 'temperature']);

function transcriptionWork(
  body: TranscriptionBody,
  model: Model,
  task: TranscriptionCall['task'],
): TranscriptionWork {
  const { file, response_format: format = 'json', timestamp_granularities: asked = [] } = body;
  if (body.stream) refuse('stream', 'is not supported: a transcript comes whole');
  const travels = ([name]: [string, unknown]) => TRAVELS.has(name) || model.passthrough.has(name);
  const others = Object.entries(body).filter(([name]) => !OWN.has(name));
  const sent = others.filter(travels);
  for (const [name, value] of sent) checkAddresses(value, name);
  const left = others.filter((other) => !travels(other)).map(([name]) => headerSafe(name));
  const granularities = [asked].flat();
  if (granularities.length > 0 && format !== 'verbose_json') left.push('timestamp_granularities');
  const fields = Object.fromEntries(sent);
  return {
    call: { task, ...audioOf(file, model), format, granularities, fields },
    ignored: [...new Set(left)],
  };
}

function audioOf(
  file: string,
  { id, limits }: Model,
): Pick<TranscriptionCall, 'audio' | 'kind' | 'seconds'> {
  const audio = isDataUrl(file) ? bytesOfBase64(file) : Buffer.alloc(0);
  // What the client calls audio is the upstream's to judge, where its first bytes are not known.
  const kind = sniffAudio(audio) ?? audioTyped(mediaTypeOf(file));
  if (!kind || audio.length === 0) {
    return refuse('file', 'must be audio: flac, m4a, mp3, mp4, ogg, wav or webm');
  }
  const seconds = secondsOf(audio);
  const { audio_seconds: most } = limits;
  if (seconds !== undefined && most !== undefined && seconds > most) {
    refuse('file', `plays for ${Math.ceil(seconds)} seconds, but ${id} takes at most ${most}`);
  }
  return { audio, kind, seconds };
}

function refuse(param: string, complaint: string): never {
  throw new GatewayError('invalid_request', `${param} ${complaint}.`, { param });
}
