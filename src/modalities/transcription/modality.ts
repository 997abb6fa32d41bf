import { isByTokens } from '../../billing/price-shape.js';
import type { Bill } from '../../billing/bill.js';
import type { Model, Upstream } from '../../core/model.js';
import { sniffAudio } from '../../lib/audio-length.js';
import { spendingOperation } from '../../pipeline/operation.js';
import { refuseUnsupported } from '../../pipeline/unsupported.js';
import type { Modality } from '../../pipeline/modality.js';
import { wholeAnswer, type PaidAnswer, type SendContext, type Work } from '../../pipeline/work.js';
import type { TranscriptionCall } from './codec.js';
import {
  refuseLongAudio,
  transcription as openAiFormat,
  translation,
} from './formats/transcription.js';
import { readTranscription } from './manifest.js';
import {
  readMinutePrice,
  sampleBill,
  transcriptionBill,
  transcriptionMaxCost,
  type TranscriptionTerms,
} from './price.js';
import { encodeTranscription, sendTranscription } from './send.js';
import { TEXT_TYPES, transcriptBody, transcriptText } from './write.js';

const FORMATS = [openAiFormat, translation];

/** A transcription request fitted to its model. */
class PlannedTranscription implements Work {
  upstreams: readonly Upstream[];

  constructor(
    private call: TranscriptionCall,
    readonly ignored: readonly string[],
    private readonly model: Model,
  ) {
    this.upstreams = model.upstreams;
  }

  /** Only JSON is stored for a repetition. */
  get repeatable(): boolean {
    return TEXT_TYPES[this.call.format] === undefined;
  }

  get measure(): Work['measure'] {
    const { call, model } = this;
    const { audio: data, kind, seconds } = call;
    if (seconds !== undefined || !sniffAudio(data)) return undefined;
    return async (read) => {
      refuseUnsupported(this.upstreams, (upstream) => encodeTranscription(call, upstream));
      const [played_seconds] = await read([{ kind: 'sound', data }]);
      // A frame of MP3 has a length of its own, and all of the file is frames.
      const isExact = kind.extension === 'mp3';
      if (isExact) refuseLongAudio(played_seconds, model);
      if (played_seconds === 0) return;
      if (played_seconds === undefined) this.call = { ...call, is_unread: true };
      else if (isExact) this.call = { ...call, seconds: played_seconds };
      else this.call = { ...call, played_seconds };
    };
  }

  maxCost(): bigint {
    return transcriptionMaxCost(this.call, this.model, this.upstreams);
  }

  async send(upstream: Upstream, context: SendContext): Promise<PaidAnswer> {
    const { call } = this;
    const reply = await sendTranscription(call, upstream, context.client, context.services);
    const terms = this.#termsFor(upstream, context);
    const answer = {
      provider: upstream.provider.name,
      bill: () => transcriptionBill(reply, terms),
    };
    const type = TEXT_TYPES[call.format];
    if (type === undefined) {
      return wholeAnswer({ ...answer, write: (bill) => transcriptBody(reply, call, bill) });
    }
    let text = '';
    return {
      ...wholeAnswer({
        ...answer,
        write: () => {
          text = transcriptText(reply, call.format);
          return undefined;
        },
      }),
      close: () => sendText(text, type, context),
    };
  }

  /** The upstream has heard the audio at least. */
  unansweredBill(upstream: Upstream, context: SendContext): Promise<Bill> {
    const nothing = { text: '', seconds: undefined, usage: undefined };
    return transcriptionBill(nothing, this.#termsFor(upstream, context));
  }

  #termsFor({ price }: Upstream, { hold }: SendContext): TranscriptionTerms {
    const { call, model } = this;
    return { call, model, price, hold_nano: hold.amount_nano };
  }
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
  refinements: [],
  formats: FORMATS,
  endpoints: [],
  operations: [
    spendingOperation({
      name: 'transcription',
      modality: 'transcription',
      format: openAiFormat.name,
      gives: 'answer',
      money: 'spends',
    }),
  ],
  tasks: {},
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
  limits: { max_tokens: ['transcription'], audio_seconds: ['transcription'] },
  manifest: { served_by: [['transcription']], read: readTranscription },
  does: 'writes down speech',
  model_names: /whisper|-transcribe/,
  fields: {
    own: ['model', 'file', 'language', 'timestamp_granularities'],
    held: ['model', 'file'],
    refused: [],
  },
  plan: ({ format: name, body }, model) => {
    const format = FORMATS.find((one) => one.name === name);
    if (!format) throw new Error(`No transcription format is called ${name}.`);
    const { call, ignored } = format.read(body, model);
    return new PlannedTranscription(call, ignored, model);
  },
  example: sampleBill,
  sampleCall: (model) => ({
    path: '/v1/audio/transcriptions',
    body: { model },
    upload: 'speech.mp3',
    client: { method: 'audio.transcriptions.create', python: 'answer.text', node: 'answer.text' },
  }),
};
