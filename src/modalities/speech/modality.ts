import type { Bill } from '../../billing/bill.js';
import type { Model, Upstream } from '../../core/model.js';
import { spendingOperation } from '../../pipeline/operation.js';
import type { Modality } from '../../pipeline/modality.js';
import type { PaidAnswer, SendContext, Work } from '../../pipeline/work.js';
import type { SpeechCall } from './codec.js';
import { DEFAULT_FORMAT, speech as openAiFormat, type SpeechFormat } from './formats/speech.js';
import { readSpeech } from './manifest.js';
import { readCharacterPrice, sampleBill, speechBill, speechMaxCost } from './price.js';
import { sendSpeech, speechAnswer } from './send.js';

const FORMATS: readonly SpeechFormat[] = [openAiFormat];

/** A speech request fitted to its model. */
class PlannedSpeech implements Work {
  upstreams: readonly Upstream[];
  /** Sound is not stored for a repetition. */
  readonly repeatable = false;

  constructor(
    private readonly call: SpeechCall,
    readonly ignored: readonly string[],
    model: Model,
  ) {
    this.upstreams = model.upstreams;
  }

  maxCost(): bigint {
    return speechMaxCost(this.call, this.upstreams);
  }

  async send(upstream: Upstream, context: SendContext): Promise<PaidAnswer> {
    const { call } = this;
    const opened = await sendSpeech(call, upstream, context.client, context.services);
    return speechAnswer(opened, call, upstream, context);
  }

  async unansweredBill({ price }: Upstream): Promise<Bill> {
    return { ...speechBill(this.call, price), estimated: true };
  }
}

/** Speech: text in, sound out. */
export const speech: Modality = {
  name: 'speech',
  refinements: [],
  formats: FORMATS,
  endpoints: [],
  operations: [
    spendingOperation({
      name: 'speech',
      modality: 'speech',
      format: openAiFormat.name,
      gives: 'answer',
      money: 'spends',
    }),
  ],
  tasks: {},
  units: { per_million_characters: { pays: ['speech'], read: readCharacterPrice } },
  limits: {},
  manifest: { served_by: [['speech']], read: readSpeech },
  does: 'speaks texts',
  model_names: /(?:^|[-/])tts(?:-|$)/,
  fields: {
    own: ['model', 'input', 'voice', 'instructions', 'stream_format'],
    held: ['model'],
    refused: [],
  },
  plan: ({ format: name, body }, model) => {
    const format = FORMATS.find((one) => one.name === name);
    if (!format) throw new Error(`No speech format is called ${name}.`);
    const { call, ignored } = format.read(body, model);
    return new PlannedSpeech(call, ignored, model);
  },
  example: sampleBill,
  defaults: () => ({ response_format: DEFAULT_FORMAT }),
  sampleCall: (model) => ({
    path: '/v1/audio/speech',
    body: { model, voice: 'alloy', input: 'The toll is paid.' },
    client: { method: 'audio.speech.create', saved_as: 'speech.mp3' },
  }),
};
