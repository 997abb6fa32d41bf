import { passthroughFields } from '../../../pipeline/passthrough.js';
import { refuseField } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import { audioTyped, secondsOfWav, sniffAudio } from '../../../lib/audio-length.js';
import { bytesOfBase64, isDataUrl, mediaTypeOf } from '../../../lib/data-url.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import { OPENAI_BASE } from '../../../pipeline/second-path.js';
import type { RequestFormat } from '../../../pipeline/modality.js';
import type { TranscriptionBody } from '../../../schema-types/transcription.js';
import type { TranscriptionCall } from '../codec.js';

/** A transcription request as the chosen model takes it. */
export interface TranscriptionWork {
  call: TranscriptionCall;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
}

/** A client format of the transcription modality. */
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
    also: OPENAI_BASE,
  }),
  form: true,
  description: {
    summary: 'Transcribe audio',
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
  // The body satisfies the schema from which its type is generated.
  read: (body, model) => transcriptionWork(body as TranscriptionBody, model, 'transcribe'),
};

/** OpenAI's own contract of translations: English, whatever is spoken. */
export const translation: TranscriptionFormat = {
  ...transcription,
  name: 'translation',
  endpoint: spendingEndpoint('translations', 'POST /v1/audio/translations', {
    modality: 'transcription',
    format: 'translation',
    also: OPENAI_BASE,
  }),
  description: {
    summary: 'Translate audio into English',
    details: 'As transcriptions.',
    status: 200,
    content: CONTENT,
  },
  // Its schema refines the one from which the type is generated.
  read: (body, model) => transcriptionWork(body as TranscriptionBody, model, 'translate'),
};

/** Fields that the gateway reads itself: neither passed through nor reported as ignored. */
const OWN = new Set(['model', 'file', 'response_format', 'timestamp_granularities', 'stream']);
/** Fields that are always passed through. */
const SENT = new Set(['language', 'prompt', 'temperature']);

function transcriptionWork(
  body: TranscriptionBody,
  model: Model,
  task: TranscriptionCall['task'],
): TranscriptionWork {
  const { file, response_format: format = 'json', timestamp_granularities: requested = [] } = body;
  if (body.stream) refuseField('stream', 'is not supported: a transcript comes whole');
  const isSent = (name: string) => SENT.has(name) || model.passthrough.has(name);
  const { fields, ignored } = passthroughFields(body, OWN, isSent);
  const granularities = [requested].flat();
  const call = { task, ...audioOf(file, model), format, granularities, fields };
  const isUnused = granularities.length > 0 && format !== 'verbose_json';
  return { call, ignored: isUnused ? [...ignored, 'timestamp_granularities'] : ignored };
}

function audioOf(
  file: string,
  model: Model,
): Pick<TranscriptionCall, 'audio' | 'kind' | 'seconds'> {
  const audio = isDataUrl(file) ? bytesOfBase64(file) : Buffer.alloc(0);
  // What the client calls audio is the upstream's to judge, where its first bytes are not known.
  const kind = sniffAudio(audio) ?? audioTyped(mediaTypeOf(file));
  if (!kind || audio.length === 0) {
    return refuseField('file', 'must be audio: flac, m4a, mp3, mp4, ogg, wav or webm');
  }
  const seconds = secondsOfWav(audio);
  refuseLongAudio(seconds, model);
  return { audio, kind, seconds };
}

/** Throws `GatewayError` for audio that plays longer than the model takes. */
export function refuseLongAudio(seconds: number | undefined, { id, limits }: Model): void {
  const { audio_seconds: most } = limits;
  if (seconds === undefined || most === undefined || seconds <= most) return;
  refuseField('file', `plays for ${Math.ceil(seconds)} seconds, but ${id} takes at most ${most}`);
}
