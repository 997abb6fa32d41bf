import { spendingOperation } from '../../pipeline/operation.js';
import type { Modality } from '../../pipeline/modality.js';
import { unaryPlan } from '../../pipeline/unary-work.js';
import { DEFAULT_FORMAT, speech as openAiFormat, type SpeechFormat } from './formats/speech.js';
import { readSpeech } from './manifest.js';
import { readCharacterPrice, sampleBill, speechBill, speechMaxCost } from './price.js';
import { sendSpeech, speechAnswer } from './send.js';

const FORMATS: readonly SpeechFormat[] = [openAiFormat];

const plan = unaryPlan({
  name: 'speech',
  formats: FORMATS,
  // Sound is not stored for a repetition.
  isRepeatable: () => false,
  maxCost: (call, _model, upstreams) => speechMaxCost(call, upstreams),
  send: (call, upstream, { client, services }) => sendSpeech(call, upstream, client, services),
  answer: (opened, terms, _format, context) => speechAnswer(opened, terms, context),
  unansweredBill: async ({ call, price }) => ({ ...speechBill(call, price), estimated: true }),
});

/** Speech: text in, sound out. */
export const speech: Modality = {
  name: 'speech',
  formats: FORMATS,
  endpoints: [],
  operations: [spendingOperation('speech', openAiFormat.name)],
  tasks: {},
  plan,
  configuration: {
    refinements: [],
    units: { per_million_characters: { pays: ['speech'], read: readCharacterPrice } },
    manifest: { served_by: [['speech']], read: readSpeech },
    does: 'speaks texts',
    model_names: /(?:^|[-/])tts(?:-|$)/,
    fields: {
      own: ['model', 'input', 'voice', 'instructions', 'stream_format'],
      held: ['model'],
      refused: [],
      default_schemas: ['speech'],
      undefaulted: ['stream_format'],
    },
  },
  documentation: {
    example: sampleBill,
    defaults: () => ({ response_format: DEFAULT_FORMAT }),
    sampleCall: (model) => ({
      path: '/v1/audio/speech',
      body: { model, voice: 'alloy', input: 'The toll is paid.' },
      client: { method: 'audio.speech.create', saved_as: 'speech.mp3' },
    }),
  },
};
