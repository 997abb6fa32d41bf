import {
  isChatCodec,
  type ChatCall,
  type ChatChoice,
  type ChatCodec,
  type ChatReply,
} from './codec.js';
import { DeltaReader, type DeltaSource } from './delta-reader.js';
import type { WireAnswer } from '../../core/provider.js';
import { readJson, jsonRequest, requestOk } from '../../upstream/upstream-request.js';
import type { LightAbortSignal } from '../../lib/in-flight.js';
import type {
  ChatAnswer,
  ChatAttempt,
  ChatStream,
  ChatWork,
  ChatAnswerBase,
  VisibleParts,
} from './call.js';
import { fanOut } from './fan-out.js';
import { EventReader } from '../../upstream/sse.js';
import type { Network } from '../../upstream/network-types.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { Model, Upstream } from '../../core/model.js';
import { readWhole } from './whole-answer.js';
import { operationReader, type OperationWith } from '../../pipeline/operation.js';

const operationOf = operationReader('chat', isChatCodec);

/**
 * Calls one upstream once, or by several concurrent calls if it needs them for `n` choices.
 * Resolves with a whole answer, or with a stream that has begun. Throws `UpstreamError` otherwise.
 */
export function sendChat(attempt: ChatAttempt, network: Network): Promise<ChatAnswer | ChatStream> {
  const operation = operationOf(attempt.upstream);
  const { max } = operation;
  if (attempt.call.n <= max) return ask(attempt, operation, attempt.client.signal, network);
  return fanOut(attempt, max, (part, signal) => ask(part, operation, signal, network));
}

async function ask(
  attempt: ChatAttempt,
  { path, codec }: OperationWith<ChatCodec>,
  signal: LightAbortSignal,
  network: Network,
): Promise<ChatAnswer | ChatStream> {
  const { call, upstream, limits, client } = attempt;
  const encoded = codec.encode(call, upstream);
  const base = { upstream, head: attempt.head, ignored: encoded.ignored };
  const wire = jsonRequest(encoded, path);
  const answer = await requestOk(network, upstream.provider, wire, signal);
  const isStream = (call.stream || encoded.is_stream === true) && !isJson(answer);
  if (call.stream && isStream) return beginStream(attempt, base, codec, answer);
  const upstreamReply = isStream
    ? await readWhole(openReader(attempt, codec, answer), client.memory)
    : codec.decode(await readJson(answer, limits.answer_bytes, client.memory), call, upstream);
  const reply = visibleReply(upstreamReply, attempt.visible);
  if (reply.choices.length === 0) throw new UpstreamError('broken', 'The upstream gave no answer.');
  if (call.stream) return wholeAsStream(attempt, base, reply);
  const { head, ignored } = base;
  const unseen = hiddenReasoning(upstreamReply, attempt.visible);
  return { kind: 'chat', reply, unseen, upstream, head, ignored };
}

function hiddenReasoning({ choices }: ChatReply, visible: VisibleParts): string {
  if (visible.reasoning) return '';
  return choices.map(({ reasoning_content = '' }) => reasoning_content).join('');
}

/** The names of the fields that an upstream's wire format leaves out of a call. */
export function fieldsLeftOut(call: ChatCall, upstream: Upstream): readonly string[] {
  return operationOf(upstream).codec.encode(call, upstream).ignored ?? [];
}

function isJson(answer: WireAnswer): boolean {
  return /^application\/([\w.-]+\+)?json/iu.test(answer.headers['content-type'] ?? '');
}

async function beginStream(
  attempt: ChatAttempt,
  base: ChatAnswerBase,
  codec: ChatCodec,
  answer: WireAnswer,
): Promise<ChatStream> {
  const { visible, client } = attempt;
  const rest = openReader(attempt, codec, answer);
  const first = await rest.next();
  if (first) return { kind: 'chat-stream', first, rest, visible, client, ...base };
  throw new UpstreamError('broken', 'The upstream ended its stream with no answer.');
}

function openReader(attempt: ChatAttempt, codec: ChatCodec, { body }: WireAnswer): DeltaReader {
  const { call, upstream, limits } = attempt;
  const frames = codec.openFrames?.(limits) ?? new EventReader(limits);
  return new DeltaReader(body, frames, codec.decodeStream(call, upstream));
}

/** Turns a whole answer into a stream of a few deltas, for servers that ignore `stream`. */
function wholeAsStream(
  { visible, client }: ChatAttempt,
  base: ChatAnswerBase,
  reply: ChatReply,
): ChatStream {
  const first = reply.choices.map(({ index, content, tool_calls, finish_reason, ...rest }) => ({
    index,
    ...(content !== null && { content }),
    ...(tool_calls && { tool_calls: tool_calls.map((call, at) => ({ index: at, ...call })) }),
    ...rest,
    finish_reason: finish_reason ?? 'stop',
  }));
  const rest: DeltaSource = {
    each: async (take) => take([{ usage: reply.usage }]),
    leave: () => undefined,
  };
  return { kind: 'chat-stream', first, rest, visible, client, ...base };
}

/** The parts of an answer that the client of a call sees, as its model allows. */
export function visiblePartsOf(
  model: Model,
  { call, shows_reasoning }: Pick<ChatWork, 'call' | 'shows_reasoning'>,
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
  return { choices, usage: reply.usage };
}

function visibleChoice(choice: ChatChoice, visible: VisibleParts): ChatChoice {
  const { index, content, finish_reason, tool_calls, logprobs } = choice;
  const { reasoning_content, reasoning_details } = choice;
  const seen: ChatChoice = { index, content, finish_reason };
  if (choice.is_refusal) seen.is_refusal = true;
  if (visible.tools && tool_calls?.length) seen.tool_calls = tool_calls;
  if (visible.reasoning && reasoning_content) seen.reasoning_content = reasoning_content;
  if (visible.reasoning && reasoning_details?.length) seen.reasoning_details = reasoning_details;
  if (choice.stop_sequence !== undefined) seen.stop_sequence = choice.stop_sequence;
  if (visible.logprobs && logprobs !== undefined) seen.logprobs = logprobs;
  return seen;
}
