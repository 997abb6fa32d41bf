import type { Model, Upstream } from '../../core/model.js';
import type { Modality } from '../../pipeline/modality.js';
import { spending } from '../../pipeline/fallback.js';
import type { PaidAnswer, Sending, Work } from '../../pipeline/work.js';
import { chargeAnswer, chatMaxCost, type Terms } from './price.js';
import type { ChatWork, ChatAnswer, ChatStream } from './call.js';
import type { ChatCall } from './codec.js';
import { deliverStream } from './deliver.js';
import { chatCompletion } from './formats/chat-completion.js';
import { completions } from './formats/completions.js';
import type { ChatFormat } from './formats/format.js';
import {
  LEGACY_FIELDS,
  READ_FIELDS,
  SAMPLING_FIELDS,
  TOOL_FIELDS,
} from './formats/openai-request.js';
import { openAiChat } from './formats/openai-chat.js';
import { responses } from './formats/responses.js';
import { generateContent, streamGenerateContent } from './formats/generate-content.js';
import { messages } from './formats/messages.js';
import { inlineUrls } from './inline-urls.js';
import { readChat } from './manifest.js';
import { probeChat } from './probe.js';
import { sampleBill } from './sample-bill.js';
import { chat as sendChat, shownOf } from './send.js';

const FORMATS: readonly ChatFormat[] = [
  chatCompletion,
  openAiChat,
  completions,
  messages,
  responses,
  generateContent,
  streamGenerateContent,
];

/** A chat request fitted to its model. */
class PlannedChat implements Work {
  upstreams: readonly Upstream[];
  /** The call with its URLs fetched, once for all upstreams that need that. */
  #inlined: Promise<ChatCall> | undefined;

  constructor(
    private readonly format: ChatFormat,
    private readonly work: ChatWork,
    private readonly model: Model,
  ) {
    this.upstreams = model.upstreams;
  }

  get ignored(): readonly string[] {
    return this.work.ignored;
  }

  /** A stream is not kept. */
  get repeatable(): boolean {
    return !this.work.call.stream;
  }

  maxCost(): bigint {
    return chatMaxCost(this.work, this.model, this.upstreams);
  }

  async send(upstream: Upstream, sending: Sending): Promise<PaidAnswer> {
    const { format, model, work } = this;
    const { request_id, hold, client, services } = sending;
    const { configuration, network, now } = services;
    const heading = {
      id: `chatcmpl-${request_id}`,
      created: Math.floor(now() / 1000),
      model: model.id,
    };
    const shown = shownOf(model, work.call);
    const { limits } = configuration;
    const takesBytes = upstream.provider.operations.get('chat')?.image_urls === 'bytes';
    const call =
      takesBytes && work.size.urls > 0
        ? await (this.#inlined ??= this.#inline(sending))
        : work.call;
    const made = await sendChat({ call, upstream, heading, shown, limits, client }, network);
    const terms = { work, model, upstream, hold_nano: hold.amount_nano };
    return made.kind === 'chat'
      ? wholeAnswer(format, made, terms)
      : streamedAnswer(format, made, terms, sending);
  }

  async #inline({ client, services }: Sending): Promise<ChatCall> {
    const { call } = this.work;
    const { configuration, network } = services;
    const messages = await inlineUrls(call.messages, configuration.limits, network, client);
    return { ...call, messages };
  }
}

function wholeAnswer(format: ChatFormat, made: ChatAnswer, terms: Terms): PaidAnswer {
  return {
    provider: made.upstream.provider.name,
    ignored: made.ignored,
    streams: false,
    deliver: (settle) => chargeAnswer(made, terms, settle),
    body: (bill) => format.write(made.heading, made.reply, bill, terms.work),
  };
}

function streamedAnswer(
  format: ChatFormat,
  made: ChatStream,
  terms: Terms,
  sending: Sending,
): PaidAnswer {
  const writer = format.stream(made.heading, made.shown, terms.work);
  return {
    provider: made.upstream.provider.name,
    ignored: made.ignored,
    streams: true,
    deliver: (settle) => deliverStream(made, writer, terms, settle, sending),
    body: () => undefined,
  };
}

const TEXT = ['chat', 'vision', 'audio', 'tools', 'file'] as const;

/** Chat completions: text, images and audio in, text and tool calls out. */
export const chat: Modality = {
  name: 'chat',
  refinements: ['vision', 'audio', 'tools', 'file'],
  formats: FORMATS,
  endpoints: [],
  operations: [
    spending({
      name: 'chat',
      modality: 'chat',
      format: chatCompletion.name,
      gives: 'answer',
      money: 'spends',
    }),
  ],
  tasks: {},
  units: {
    input_per_million: { pays: TEXT },
    cached_input_per_million: { pays: TEXT, is_class: true },
    cache_write_per_million: { pays: TEXT, is_class: true },
    audio_input_per_million: { pays: TEXT, is_class: true },
    output_per_million: { pays: TEXT },
    audio_output_per_million: { pays: TEXT, is_class: true },
  },
  manifest: { served_by: [['chat']], read: readChat },
  fields: {
    own: [...READ_FIELDS, ...SAMPLING_FIELDS, ...TOOL_FIELDS],
    held: READ_FIELDS,
    refused: LEGACY_FIELDS,
  },
  plan: ({ format: name, body }, model) => {
    const format = FORMATS.find((one) => one.name === name);
    if (!format) throw new Error(`No chat format is called ${name}.`);
    return new PlannedChat(format, format.read(body, model), model);
  },
  example: sampleBill,
  sampleCall: (model) => ({
    path: '/v1/chat/completions',
    body: { model, messages: [{ role: 'user', content: 'Hello!' }] },
    client: {
      method: 'chat.completions.create',
      python: 'answer.choices[0].message.content',
      node: 'answer.choices[0].message.content',
    },
  }),
  probe: probeChat,
  playground: {
    title: 'Chat',
    ideas: ['Explain a hash to a child', 'Write a haiku about a toll road'],
  },
};
