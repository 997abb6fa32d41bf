import type { Bill } from '../../billing/bill.js';
import type { Model, Upstream } from '../../core/model.js';
import type { Modality } from '../../pipeline/modality.js';
import { spendingOperation } from '../../pipeline/spending.js';
import type { Fit, PaidAnswer, SendContext, Work } from '../../pipeline/work.js';
import { readLongPrompt } from './price-block.js';
import { chargeAnswer, chatMaxCost, estimatedBill, promptTokens, type Terms } from './price.js';
import type { ChatWork, ChatAnswer, ChatStream } from './call.js';
import type { ChatCall } from './codec.js';
import { countTokens, type Countable } from './count-tokens.js';
import { deliverStream } from './deliver.js';
import { chatCompletion } from './formats/chat-completion.js';
import { completions } from './formats/completions.js';
import type { ChatFormat } from './formats/format.js';
import {
  LEGACY_FIELDS,
  READ_FIELDS,
  SAMPLING_FIELDS,
  TOOL_FIELDS,
  chatDefaults,
} from './formats/openai-request.js';
import { openAiChat } from './formats/openai-chat.js';
import { openAiResponses, responses } from './formats/responses.js';
import {
  countContentTokens,
  generateContent,
  stableContentEndpoints,
  streamGenerateContent,
} from './formats/generate-content.js';
import { modelEndpoints } from './formats/model-lists.js';
import { messages } from './formats/messages.js';
import { messagesCount } from './formats/messages-count.js';
import { largestLimit, leastLimit, withLimit } from './fit.js';
import { inlineUrls } from './inline-urls.js';
import { readChat } from './manifest.js';
import { refuseTooLong } from './prompt-length.js';
import { probeChat } from './probe.js';
import { sampleBill } from './sample-bill.js';
import { sendChat, fieldsLeftOut, visiblePartsOf } from './send.js';

const FORMATS: readonly ChatFormat[] = [
  chatCompletion,
  openAiChat,
  completions,
  messages,
  messagesCount,
  responses,
  generateContent,
  streamGenerateContent,
  countContentTokens,
];

/** A chat request fitted to its model. */
class PlannedChat implements Work, Countable {
  upstreams: readonly Upstream[];
  /** The call with its URLs fetched, once for all upstreams that need that. */
  #inlined: Promise<ChatCall> | undefined;

  constructor(
    private readonly format: ChatFormat,
    private work: ChatWork,
    private readonly model: Model,
  ) {
    this.upstreams = model.upstreams;
  }

  get ignored(): readonly string[] {
    return this.work.ignored;
  }

  get adjusted(): readonly string[] {
    return this.work.is_lowered ? [this.#limit] : [];
  }

  get streams(): boolean {
    return this.work.call.stream;
  }

  /** Answers that are streams are not stored. */
  get repeatable(): boolean {
    return !this.work.call.stream;
  }

  maxCost(): bigint {
    return chatMaxCost(this.work, this.model, this.upstreams);
  }

  /** Counts images as the first upstream of the model does. */
  async countTokens(): Promise<object> {
    const { format, model, work } = this;
    const [upstream] = this.upstreams;
    if (!upstream) throw new Error('The model has no upstream.');
    const input_tokens = await promptTokens({ work, model, upstream });
    return format.count?.(input_tokens) ?? { input_tokens };
  }

  fitting(available_nano: bigint): Fit | undefined {
    const value = largestLimit(this.work, this.model, this.upstreams, available_nano);
    return value === 0 ? undefined : { field: this.#limit, value };
  }

  lowerTo({ value }: Fit): boolean {
    if (value < leastLimit(this.work, this.model)) return false;
    this.work = { ...withLimit(this.work, value), is_lowered: true };
    return true;
  }

  get #limit(): string {
    return this.format.limit ?? this.work.limit;
  }

  send(upstream: Upstream, context: SendContext): Promise<PaidAnswer> {
    const answer = this.#send(upstream, context);
    const { names } = this.work;
    if (!names) return answer;
    return answer.catch((error: unknown) => {
      throw names.ofError(error) ?? error;
    });
  }

  async #send(upstream: Upstream, context: SendContext): Promise<PaidAnswer> {
    const { format, model, work } = this;
    const { request_id, hold, client, services } = context;
    const { configuration, network, now } = services;
    const head = {
      id: `chatcmpl-${request_id}`,
      created: Math.floor(now() / 1000),
      model: model.id,
      now,
    };
    const visible = visiblePartsOf(model, work);
    const { limits } = configuration;
    const takesBytes = upstream.provider.operations.get('chat')?.image_urls === 'bytes';
    const call =
      takesBytes && work.size.urls > 0
        ? await (this.#inlined ??= this.#inline(context))
        : work.call;
    const answer = await sendChat({ call, upstream, head, visible, limits, client }, network);
    const terms = { work, model, upstream, hold_nano: hold.amount_nano };
    return answer.kind === 'chat'
      ? wholeAnswer(format, answer, terms)
      : streamedAnswer(format, answer, terms, context);
  }

  leftOutBy(upstream: Upstream): readonly string[] {
    return clientNames(fieldsLeftOut(this.work.call, upstream), this.work) ?? [];
  }

  /** The upstream has read the prompt at least. */
  unansweredBill(upstream: Upstream, { hold }: SendContext): Promise<Bill> {
    const { model, work } = this;
    return estimatedBill([], { work, model, upstream, hold_nano: hold.amount_nano });
  }

  async #inline({ client, services }: SendContext): Promise<ChatCall> {
    // The original request names the URLs that are replaced here.
    const { original: _, ...call } = this.work.call;
    const { configuration, network } = services;
    const messages = await inlineUrls(call.messages, configuration.limits, network, client);
    return { ...call, messages };
  }
}

function wholeAnswer(format: ChatFormat, answer: ChatAnswer, terms: Terms): PaidAnswer {
  return {
    provider: answer.upstream.provider.name,
    ignored: clientNames(answer.ignored, terms.work),
    streams: false,
    deliver: (settle) => chargeAnswer(answer, terms, settle),
    body: (bill) => format.write(answer.head, answer.reply, bill, terms.work),
  };
}

/** The names of ignored fields, as the client's format calls them. */
function clientNames(fields: ChatAnswer['ignored'], { names }: ChatWork): ChatAnswer['ignored'] {
  return names ? fields?.map((name) => names.ofIgnored(name)) : fields;
}

function streamedAnswer(
  format: ChatFormat,
  answer: ChatStream,
  terms: Terms,
  context: SendContext,
): PaidAnswer {
  const writer = format.stream(answer.head, answer.visible, terms.work, context.client);
  return {
    provider: answer.upstream.provider.name,
    ignored: clientNames(answer.ignored, terms.work),
    streams: true,
    deliver: (settle) => deliverStream(answer, writer, terms, settle, context),
    body: () => undefined,
  };
}

const TEXT = ['chat', 'vision', 'audio', 'tools', 'file'] as const;

/** Chat completions: text, images and audio in, text and tool calls out. */
export const chat: Modality = {
  name: 'chat',
  refinements: ['vision', 'audio', 'tools', 'file'],
  formats: FORMATS,
  endpoints: [openAiResponses, ...stableContentEndpoints, ...modelEndpoints],
  operations: [
    spendingOperation({
      name: 'chat',
      modality: 'chat',
      format: chatCompletion.name,
      gives: 'answer',
      money: 'spends',
    }),
    countTokens,
  ],
  tasks: {},
  units: {
    input_per_million: { pays: TEXT },
    cached_input_per_million: { pays: TEXT, is_class: true },
    cache_write_per_million: { pays: TEXT, is_class: true },
    audio_input_per_million: { pays: TEXT, is_class: true },
    output_per_million: { pays: TEXT },
    audio_output_per_million: { pays: TEXT, is_class: true },
    long_prompt: { pays: TEXT, is_class: true, read: readLongPrompt },
  },
  manifest: { served_by: [['chat']], read: readChat },
  fields: {
    own: [...READ_FIELDS, ...SAMPLING_FIELDS, ...TOOL_FIELDS],
    held: READ_FIELDS,
    refused: LEGACY_FIELDS,
  },
  plan: ({ format: name, body, headers = {} }, model) => {
    const format = FORMATS.find((one) => one.name === name);
    if (!format) throw new Error(`No chat format is called ${name}.`);
    const work = format.read(body, model, headers);
    if (!format.only_counts) refuseTooLong(work, model);
    return new PlannedChat(format, work, model);
  },
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
  probe: probeChat,
  playground: {
    title: 'Chat',
    ideas: ['Explain a hash to a child', 'Write a haiku about a toll road'],
  },
};
