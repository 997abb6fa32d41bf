import type { Modality } from '../../pipeline/modality.js';
import { spendingOperation } from '../../pipeline/operation.js';
import { readLongPrompt, readTiers, readToolPrices } from './price-block.js';
import { countTokens } from './count-tokens.js';
import {
  chatCompletion,
  LEGACY_FIELDS,
  READ_FIELDS,
  SAMPLING_FIELDS,
  TOOL_FIELDS,
  chatDefaults,
} from './formats/chat-completion.js';
import { completions } from './formats/completions.js';
import type { ChatFormat } from './formats/format.js';
import { openAiChat } from './formats/openai-chat.js';
import { responses } from './formats/responses.js';
import { responsesCompact } from './formats/responses-compact.js';
import { responsesCount } from './formats/responses-count.js';
import {
  countContentTokens,
  generateContent,
  streamGenerateContent,
} from './formats/generate-content.js';
import { modelEndpoints } from './formats/model-lists.js';
import { messages } from './formats/messages.js';
import { messagesCount } from './formats/messages-count.js';
import { readChat } from './manifest.js';
import { probeChat } from './probe.js';
import { sampleBill } from './sample-bill.js';
import { chatPlanner } from './planned-chat.js';

const FORMATS: readonly ChatFormat[] = [
  chatCompletion,
  openAiChat,
  completions,
  messages,
  messagesCount,
  responses,
  responsesCount,
  responsesCompact,
  generateContent,
  streamGenerateContent,
  countContentTokens,
];

const TIERS_WHY = 'no provider has service tiers for other work than chat and images';
const TEXT = ['chat', 'vision', 'audio', 'tools', 'file'] as const;

/** Chat completions: text, images and audio in, text and tool calls out. */
export const chat: Modality = {
  name: 'chat',
  formats: FORMATS,
  endpoints: modelEndpoints,
  operations: [spendingOperation('chat', chatCompletion.name), countTokens],
  tasks: {},
  plan: chatPlanner(FORMATS),
  probe: probeChat,
  configuration: {
    refinements: ['vision', 'audio', 'tools', 'file'],
    units: {
      input_per_million: { pays: TEXT },
      cached_input_per_million: { pays: TEXT, is_class: true },
      cache_write_per_million: { pays: TEXT, is_class: true },
      cache_write_1h_per_million: { pays: TEXT, is_class: true },
      audio_input_per_million: { pays: TEXT, is_class: true },
      image_input_per_million: { pays: TEXT, is_class: true },
      output_per_million: { pays: TEXT },
      audio_output_per_million: { pays: TEXT, is_class: true },
      image_output_per_million: { pays: TEXT, is_class: true },
      long_prompt: { pays: TEXT, is_class: true, read: readLongPrompt },
      tiers: { pays: TEXT, is_class: true, read: readTiers, why: TIERS_WHY },
      per_tool_call: { pays: TEXT, is_class: true, read: readToolPrices },
    },
    manifest: { served_by: [['chat']], read: readChat },
    does: 'writes text',
    fields: {
      own: [...READ_FIELDS, ...SAMPLING_FIELDS, ...TOOL_FIELDS],
      held: READ_FIELDS,
      refused: LEGACY_FIELDS,
      default_schemas: [chatCompletion.name],
      undefaulted: ['tools', ...LEGACY_FIELDS],
    },
  },
  documentation: {
    example: sampleBill,
    defaults: chatDefaults,
    sampleCall: (model) => ({
      path: '/v1/chat/completions',
      body: { model, messages: [{ role: 'user', content: 'Hello!' }] },
      client: {
        method: 'chat.completions.create',
        python: 'answer.choices[0].message.content',
        node: 'answer.choices[0].message.content',
      },
    }),
    playground: {
      title: 'Chat',
      ideas: ['Explain a hash to a child', 'Write a haiku about a toll road'],
    },
  },
};
