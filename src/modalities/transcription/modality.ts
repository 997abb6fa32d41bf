import { isByTokens } from '../../billing/price-shape.js';
import type { Model, Upstream } from '../../core/model.js';
import { sniffAudio } from '../../lib/audio-length.js';
import { spendingOperation } from '../../pipeline/operation.js';
import { refuseUnsupported } from '../../pipeline/unsupported.js';
import type { Modality } from '../../pipeline/modality.js';
import { unaryPlan, type UnaryTerms } from '../../pipeline/unary-work.js';
import {
  wholeAnswer,
  type PaidAnswer,
  type ReadMedia,
  type SendContext,
} from '../../pipeline/work.js';
import type { TranscriptionCall, TranscriptReply } from './codec.js';
import {
  refuseLongAudio,
  transcription as openAiFormat,
  translation,
} from './formats/transcription.js';
import { readTranscription } from './manifest.js';
import { readMinutePrice, sampleBill, transcriptionBill, transcriptionMaxCost } from './price.js';
import { encodeTranscription, sendTranscription } from './send.js';
import { TEXT_TYPES, transcriptBody, transcriptText } from './write.js';

const FORMATS = [openAiFormat, translation];

const plan = unaryPlan({
  name: 'transcription',
  formats: FORMATS,
  // Only JSON is stored for a repetition.
  isRepeatable: ({ format }) => TEXT_TYPES[format] === undefined,
  measure: measureAudio,
  maxCost: transcriptionMaxCost,
  send: (call, upstream, { client, services }) =>
    sendTranscription(call, upstream, client, services),
  answer: transcriptAnswer,
  // The upstream has heard the audio at least.
  unansweredBill: (terms) =>
    transcriptionBill({ text: '', seconds: undefined, usage: undefined }, terms),
});

function measureAudio(call: TranscriptionCall, model: Model) {
  const { audio: data, kind, seconds } = call;
  if (seconds !== undefined || !sniffAudio(data)) return undefined;
  return async (read: ReadMedia, upstreams: readonly Upstream[]): Promise<TranscriptionCall> => {
    refuseUnsupported(upstreams, (upstream) => encodeTranscription(call, upstream));
    const [played_seconds] = await read([{ kind: 'sound', data }]);
    // A frame of MP3 has a length of its own, and all of the file is frames.
    const isExact = kind.extension === 'mp3';
    if (isExact) refuseLongAudio(played_seconds, model);
    if (played_seconds === 0) return call;
    if (played_seconds === undefined) return { ...call, is_unread: true };
    return { ...call, ...(isExact ? { seconds: played_seconds } : { played_seconds }) };
  };
}

function transcriptAnswer(
  reply: TranscriptReply,
  terms: UnaryTerms<TranscriptionCall>,
  _format: unknown,
  context: SendContext,
): PaidAnswer {
  const { call, provider } = terms;
  const answer = { provider: provider.name, bill: () => transcriptionBill(reply, terms) };
  const type = TEXT_TYPES[call.format];
  if (type === undefined) {
    return wholeAnswer({ ...answer, write: (bill) => transcriptBody(reply, call, bill) });
  }
  let text = '';
  const write = (): undefined => {
    text = transcriptText(reply, call.format);
  };
  return { ...wholeAnswer({ ...answer, write }), close: () => sendText(text, type, context) };
}

async function sendText(
  transcript: string,
  type: string,
  { client, request_id, services }: SendContext,
): Promise<void> {
  const text = Buffer.from(transcript);
  const headers = {
    'x-request-id': request_id,
    'content-type': type,
    'content-length': String(text.length),
  };
  const head = { status: 200, headers, length: text.length };
  const whole = async function* (): AsyncGenerator<Uint8Array> {
    yield text;
  };
  await client.sendBytes(head, whole(), services.configuration.limits.client_ms);
}

const TOKENS = ['transcription'] as const;

/** Transcription: speech in, text out. */
export const transcription: Modality = {
  name: 'transcription',
  formats: FORMATS,
  endpoints: [],
  operations: [spendingOperation('transcription', openAiFormat.name)],
  tasks: {},
  plan,
  configuration: {
    refinements: [],
    units: {
      input_per_million: { pays: TOKENS, isWanted: isByTokens },
      audio_input_per_million: { pays: TOKENS, is_class: true },
      output_per_million: { pays: TOKENS, isWanted: isByTokens },
      per_audio_minute: {
        pays: TOKENS,
        read: readMinutePrice,
        isWanted: (given) => !isByTokens(given),
      },
    },
    manifest: { served_by: [['transcription']], read: readTranscription },
    does: 'writes down speech',
    model_names: /whisper|-transcribe/,
    fields: {
      own: ['model', 'file', 'language', 'timestamp_granularities'],
      held: ['model', 'file'],
      refused: [],
      default_schemas: ['transcription'],
      undefaulted: ['stream'],
    },
  },
  documentation: {
    example: sampleBill,
    sampleCall: (model) => ({
      path: '/v1/audio/transcriptions',
      body: { model },
      upload: 'speech.mp3',
      client: { method: 'audio.transcriptions.create', python: 'answer.text', node: 'answer.text' },
    }),
  },
};
