import type { Bill } from '../../billing/bill.js';
import type { Encoded, WireReply, WireRequest } from '../../core/provider.js';
import { longWorkTurns } from '../../lib/event-loop-turns.js';
import { isRecord, recordsIn } from '../../lib/objects.js';
import { UpstreamError } from '../../core/upstream-error.js';
import { publicName, type Model, type Upstream } from '../../core/model.js';
import type { LightAbortSignal } from '../../lib/light-abort.js';
import type { Modality } from '../../pipeline/modality.js';
import { sealedBody } from '../../pipeline/stage.js';
import { operationReader, type OperationWith } from '../../pipeline/operation.js';
import { refuseUnsupported } from '../../pipeline/unsupported.js';
import {
  wholeAnswer,
  type Fit,
  type PaidAnswer,
  type SendContext,
  type Work,
} from '../../pipeline/work.js';
import type { Network } from '../../upstream/network-types.js';
import { readJson, jsonRequest, requestOk } from '../../upstream/upstream-request.js';
import { refuseLarge } from './reply-bounds.js';
import type {
  AnswerHead,
  WholeChatReply,
  ChatAttempt,
  ChatReplyStream,
  ChatRequest,
  VisibleParts,
} from './call.js';
import {
  isChatCodec,
  type ChatCall,
  type ChatChoice,
  type ChatCodec,
  type ChatReply,
} from './codec.js';
import { payingMarks, withCacheMarks } from './cache-marks.js';
import { beginningOf } from './conversation-beginning.js';
import { readableBy } from './compaction.js';
import type { Countable } from './count-tokens.js';
import { withDefaults } from './defaults.js';
import { openEvents, streamedAnswer } from './streamed-answer.js';
import { fanOut } from './fan-out.js';
import { largestLimit, leastLimit, withLimit } from './fit.js';
import type { ChatFormat, ChatStreamWriter } from './formats/format.js';
import { inlineUrls } from './inline-urls.js';
import {
  chatBill,
  chatMaxCost,
  chatMaxTokens,
  promptTokens,
  refuseTooLong,
  replyBill,
  withMedia,
} from './price.js';
import { UsageReport, type ChoiceText } from './usage-report.js';
import { beginStream, openReader, readWhole, wholeAsStream } from './whole-reply.js';

const operationOf = operationReader('chat', isChatCodec);

/** Returns a function that fits a validated request to its model. It throws as `read` does. */
export function chatPlanner(formats: readonly ChatFormat[]): Modality['plan'] {
  return (asked, model) => {
    const { format: name, headers = {}, texts } = asked;
    const format = formats.find((one) => one.name === name);
    if (!format) throw new Error(`No chat format is called ${name}.`);
    const read = format.read(sealedBody(asked), model, headers, texts);
    const request = texts ? { ...read, texts } : read;
    if (format.only_counts) return new PlannedChat(format, request, model);
    refuseTooLong(request, model);
    const { request: readable, upstreams } = readableBy(request, model, compactionFormatOf);
    return new PlannedChat(format, readable, model, upstreams);
  };
}

function compactionFormatOf(upstream: Upstream): string | undefined {
  return operationOf(upstream.provider).codec.compactionFormat?.(upstream);
}

/** A chat request fitted to its model. */
class PlannedChat implements Work, Countable {
  home: Upstream | undefined;
  #writer: ChatStreamWriter | undefined;
  /** The messages with their URLs fetched, once for all upstreams that need that. */
  #inlined: Promise<ChatCall['messages']> | undefined;
  /** What the calls to the last upstream have reported. */
  #reports: UsageReport[] = [];
  /** When that was called. */
  #began_ms = 0;

  constructor(
    private readonly format: ChatFormat,
    private request: ChatRequest,
    private readonly model: Model,
    public upstreams: readonly Upstream[] = model.upstreams,
  ) {}

  beginning(): string {
    const { call, texts } = this.request;
    return beginningOf(call.messages, texts);
  }

  get ignored(): readonly string[] {
    return this.request.ignored;
  }

  get adjusted(): readonly string[] {
    return this.request.is_lowered ? [this.#limit] : [];
  }

  get streams(): boolean {
    return this.request.call.stream;
  }

  /** Answers that are streams are not stored. */
  get repeatable(): boolean {
    return !this.request.call.stream;
  }

  get measure(): Work['measure'] {
    if (this.request.media.length === 0) return undefined;
    return async (read) => {
      const { media, size, names } = this.request;
      try {
        refuseUnsupported(this.upstreams, (upstream) => fieldsLeftOut(this.request, upstream));
      } catch (error) {
        throw names?.ofError(error) ?? error;
      }
      const measured = withMedia(size, media, await read(media));
      this.request = { ...this.request, size: measured, media: [] };
    };
  }

  maxCost(): bigint {
    return chatMaxCost(this.request, this.model, this.upstreams);
  }

  maxTokens(): number {
    return chatMaxTokens(this.request, this.model, this.upstreams);
  }

  /** Counts images as the first upstream of the model does. */
  async countTokens(): Promise<object> {
    const { format, model, request } = this;
    const [upstream] = this.upstreams;
    if (!upstream) throw new Error('The model has no upstream.');
    const input_tokens = await promptTokens({
      request: withDefaults(request, upstream),
      model,
      upstream,
    });
    return format.count?.(input_tokens) ?? { input_tokens };
  }

  fitting(available_nano: bigint): Fit | undefined {
    // The call has no limit that could be lowered.
    if (this.request.call.compaction === 'call') return undefined;
    const value = largestLimit(this.request, this.model, this.upstreams, available_nano);
    return value === 0 ? undefined : { field: this.#limit, value };
  }

  lowerTo({ value }: Fit): boolean {
    if (value < leastLimit(this.request, this.model)) return false;
    this.request = { ...withLimit(this.request, value), is_lowered: true };
    return true;
  }

  get #limit(): string {
    return this.format.limit ?? this.request.limit;
  }

  send(upstream: Upstream, context: SendContext): Promise<PaidAnswer> {
    const answer = this.#send(upstream, context);
    const { names } = this.request;
    if (!names) return answer;
    return answer.catch((error: unknown) => {
      throw names.ofError(error) ?? error;
    });
  }

  openStream(context: SendContext): void {
    openEvents(this.#writerFor(context), context).open();
  }

  /** The writer of the stream. It is the same for all upstreams, as the stream may have begun. */
  #writerFor(context: SendContext): ChatStreamWriter {
    const { format, model, request } = this;
    const visible = visiblePartsOf(model, request);
    return (this.#writer ??= format.stream(this.#head(context), visible, request, context.client));
  }

  #head({ request_id, services: { configuration, now } }: SendContext): AnswerHead {
    const id = `chatcmpl-${request_id}`;
    const { cost_in_usage: shows_cost } = configuration.limits;
    return {
      id,
      created: Math.floor(now() / 1000),
      model: publicName(this.model),
      now,
      shows_cost,
    };
  }

  async #send(upstream: Upstream, context: SendContext): Promise<PaidAnswer> {
    const { format, model } = this;
    const request = withDefaults(this.request, upstream);
    const { hold, client, services } = context;
    const { configuration, network } = services;
    const head = this.#head(context);
    const visible = visiblePartsOf(model, request);
    const { limits } = configuration;
    const takesBytes = upstream.provider.operations.get('chat')?.image_urls === 'bytes';
    const whole =
      takesBytes && request.size.urls > 0
        ? withoutOriginal(request.call, await (this.#inlined ??= this.#inline(context)))
        : request.call;
    const marks = model.cache === 'auto' ? payingMarks(upstream) : undefined;
    const call = marks ? withCacheMarks(whole, marks) : whole;
    const reports: UsageReport[] = [];
    this.#reports = reports;
    const { texts } = request;
    const attempt = { call, upstream, head, visible, limits, client, reports, texts };
    const began_ms = services.now();
    this.#began_ms = began_ms;
    const received = await sendChat(attempt, network);
    texts?.release();
    const terms = { request, model, upstream, began_ms, hold_nano: hold.amount_nano, reports };
    // A default that the upstream does not take is no field of the client.
    const isSent = (name: string): boolean => {
      return !(name in request.call.fields) || name in this.request.call.fields;
    };
    const ignored = clientNames(received.ignored?.filter(isSent), request);
    if (received.kind === 'chat-stream') {
      return streamedAnswer(received, ignored, this.#writerFor(context), terms, context);
    }
    return wholeAnswer({
      provider: upstream.provider.name,
      ignored,
      bill: () => replyBill(received.reply, terms),
      write: (bill) => format.write(received.head, received.reply, bill, request),
    });
  }

  leftOutBy(upstream: Upstream): readonly string[] {
    return clientNames(fieldsLeftOut(this.request, upstream), this.request) ?? [];
  }

  /** The upstream has read the prompt at least. */
  unansweredBill(upstream: Upstream, { hold }: SendContext): Promise<Bill> {
    const { model } = this;
    const request = withDefaults(this.request, upstream);
    const [reports, began_ms] = [this.#reports, this.#began_ms];
    const terms = { request, model, upstream, began_ms, hold_nano: hold.amount_nano, reports };
    return chatBill([], terms, false);
  }

  #inline({ client, services }: SendContext): Promise<ChatCall['messages']> {
    const { configuration, network } = services;
    return inlineUrls(this.request.call.messages, configuration.limits, network, client);
  }
}

/** A call with its URLs fetched. The original request still names them. */
function withoutOriginal(call: ChatCall, messages: ChatCall['messages']): ChatCall {
  const { original: _, ...rest } = call;
  return { ...rest, messages };
}

/** The names of ignored fields, as the client's format calls them. */
function clientNames(
  fields: WholeChatReply['ignored'],
  { names }: ChatRequest,
): WholeChatReply['ignored'] {
  return names ? fields?.map((name) => names.ofIgnored(name)) : fields;
}

/**
 * Calls one upstream once, or by several concurrent calls if it needs them for `n` choices.
 * Resolves with a whole answer, or with a stream that has begun. Throws `UpstreamError` otherwise.
 */
export function sendChat(
  attempt: ChatAttempt,
  network: Network,
): Promise<WholeChatReply | ChatReplyStream> {
  const operation = operationOf(attempt.upstream.provider);
  const { max } = operation;
  if (attempt.call.n <= max) return askUpstream(attempt, operation, attempt.client.signal, network);
  return fanOut(attempt, max, (part, signal) => askUpstream(part, operation, signal, network));
}

/** A call as its upstream reads it. */
interface WrittenCall {
  wire: WireRequest;
  /** Whether the upstream streams its answer, whatever the call asks for. */
  is_stream: boolean;
  ignored: readonly string[] | undefined;
}

/** Writes a call. The body of which it makes the text is garbage while the upstream thinks. */
async function writeCall(
  { call, upstream, texts }: ChatAttempt,
  { path, codec }: OperationWith<ChatCodec>,
): Promise<WrittenCall> {
  if (!codec.moves_texts) await texts?.unsealInTurns(call);
  const encoded = codec.encode(call, upstream);
  // Writing a large body takes as long, so other requests get a turn first.
  if (texts) await longWorkTurns.next();
  const wire = jsonRequest(encoded, path, texts);
  return { wire, is_stream: encoded.is_stream === true, ignored: leftOut(call, encoded) };
}

async function askUpstream(
  attempt: ChatAttempt,
  operation: OperationWith<ChatCodec>,
  signal: LightAbortSignal,
  network: Network,
): Promise<WholeChatReply | ChatReplyStream> {
  const { codec } = operation;
  const { call, upstream, limits, client, from = 0 } = attempt;
  const report = new UsageReport(from, call.n);
  attempt.reports.push(report);
  const { wire, is_stream, ignored } = await writeCall(attempt, operation);
  const base = { upstream, head: attempt.head, ignored };
  const received = await requestOk(network, upstream.provider, wire, signal);
  const isStream = (call.stream || is_stream) && !isJson(received);
  const reader = isStream ? openReader(attempt, codec, received, report) : undefined;
  if (reader && call.stream) return beginStream(attempt, base, received, reader);
  const upstreamReply = reader
    ? await readWhole(reader, client.memory, report)
    : codec.decode(await readJson(received, limits.answer_bytes, client.memory), call, upstream);
  refuseLarge(upstreamReply, limits);
  report.add(upstreamReply.usage);
  const reply = visibleReply(upstreamReply, attempt.visible);
  if (reply.choices.length === 0) throw new UpstreamError('broken', 'The upstream gave no answer.');
  if (!attempt.visible.reasoning) report.unseen = reasoningOf(upstreamReply, from);
  if (call.stream) return wholeAsStream(attempt, base, reply);
  return { kind: 'chat', reply, ...base };
}

function reasoningOf({ choices }: ChatReply, from: number): ChoiceText[] {
  return choices.map(({ index, reasoning_content: text = '' }) => ({ index: from + index, text }));
}

/** The names of the fields that an upstream's wire format leaves out of a call. */
function fieldsLeftOut({ call, texts }: ChatRequest, upstream: Upstream): readonly string[] {
  const { codec } = operationOf(upstream.provider);
  if (!codec.moves_texts) texts?.unseal(call);
  return leftOut(call, codec.encode(call, upstream)) ?? [];
}

/** The names of the fields that are not sent. */
function leftOut(
  { others = [], inner_others = [] }: ChatCall,
  { body, ignored }: Encoded,
): Encoded['ignored'] {
  if (others.length === 0 && inner_others.length === 0) return ignored;
  const lost = others.filter(({ path: [name, inner] }) => {
    const sent: unknown = isRecord(body) ? body[name] : undefined;
    if (inner === undefined) return sent === undefined;
    return !isRecord(sent) || !Object.hasOwn(sent, inner);
  });
  const lost_inside = inner_others.filter((name) => !hasField(body, name.split('.')));
  return [...(ignored ?? []), ...lost.map(({ path }) => path.join('.')), ...lost_inside];
}

/** Whether a body has a field, or a block of a type, at `messages[]`, `content[]`, `later`. */
function hasField(body: unknown, [step = '', ...rest]: readonly string[]): boolean {
  if (!isRecord(body)) return false;
  if (!step.endsWith('[]')) return Object.hasOwn(body, step) || body.type === step;
  return recordsIn(body[step.slice(0, -2)]).some((item) => hasField(item, rest));
}

/** The parts of an answer that the client of a call sees, as its model allows. */
export function visiblePartsOf(
  model: Model,
  { call, shows_reasoning }: Pick<ChatRequest, 'call' | 'shows_reasoning'>,
): VisibleParts {
  return {
    choices: call.n,
    tools: model.capabilities.has('tools'),
    reasoning: shows_reasoning === true || model.passthrough.has('reasoning_content'),
    logprobs: model.passthrough.has('logprobs'),
  };
}

/** The reply with only the parts that the client sees. */
export function visibleReply(reply: ChatReply, visible: VisibleParts): ChatReply {
  const choices = reply.choices
    .filter(({ index }) => index < visible.choices)
    .map((choice) => visibleChoice(choice, visible));
  const { usage, others } = reply;
  return { choices, usage, ...(others && { others }) };
}

function visibleChoice(choice: ChatChoice, visible: VisibleParts): ChatChoice {
  const { index, content, finish_reason, tool_calls, logprobs } = choice;
  const { reasoning_content, reasoning_details } = choice;
  const seen: ChatChoice = { index, content, finish_reason };
  if (choice.is_refusal) seen.is_refusal = true;
  if (visible.tools && tool_calls?.length) seen.tool_calls = tool_calls;
  if (visible.tools && choice.hosted_parts) seen.hosted_parts = choice.hosted_parts;
  if (choice.annotations) seen.annotations = choice.annotations;
  if (visible.reasoning && reasoning_content) seen.reasoning_content = reasoning_content;
  if (visible.reasoning && reasoning_details?.length) seen.reasoning_details = reasoning_details;
  if (choice.stop_sequence !== undefined) seen.stop_sequence = choice.stop_sequence;
  if (visible.logprobs && logprobs !== undefined) seen.logprobs = logprobs;
  return seen;
}

function isJson({ headers }: WireReply): boolean {
  return /^application\/([\w.-]+\+)?json/iu.test(headers['content-type'] ?? '');
}
