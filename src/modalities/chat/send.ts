import { isChatCodec, type ChatCodec, type ChatReply } from './codec.js';
import { DeltaReader, type DeltaSource } from './delta-reader.js';
import type { WireAnswer } from '../../core/provider.js';
import { readJson, jsonRequest, requestOk } from '../../upstream/upstream-request.js';
import type { LightAbortSignal } from '../../lib/in-flight.js';
import type { ChatAnswer, ChatAttempt, ChatStream } from './attempt.js';
import { fanOut } from './fan-out.js';
import { EventReader } from '../../upstream/sse.js';
import type { Network } from '../../upstream/network-types.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { Upstream } from '../../core/model.js';
import { visible } from './shown.js';
import { readWhole } from './whole-answer.js';

/**
 * Asks one upstream once, or at once by as many calls as it needs for `n` choices. Resolves with a
 * whole answer, or with a stream that has begun; throws `UpstreamError` for everything else.
 */
export function chat(attempt: ChatAttempt, network: Network): Promise<ChatAnswer | ChatStream> {
  const { max } = operationOf(attempt.upstream);
  if (attempt.call.n <= max) return ask(attempt, attempt.client.signal, network);
  return fanOut(attempt, max, (part, signal) => ask(part, signal, network));
}

async function ask(
  attempt: ChatAttempt,
  signal: LightAbortSignal,
  network: Network,
): Promise<ChatAnswer | ChatStream> {
  const { call, upstream, limits, client } = attempt;
  const { path, codec } = operationOf(upstream);
  const encoded = codec.encode(call, upstream);
  const wire = jsonRequest(encoded, path);
  const answer = await requestOk(network, upstream.provider, wire, signal);
  const isStream = (call.stream || encoded.is_stream === true) && !isJson(answer);
  if (call.stream && isStream) return beginStream(attempt, codec, answer);
  const whole = isStream
    ? await readWhole(openReader(attempt, codec, answer), client.room)
    : codec.decode(await readJson(answer, limits.answer_bytes, client.room), call, upstream);
  const reply = visible(whole, attempt.shown);
  if (reply.choices.length === 0) throw new UpstreamError('broken', 'The upstream gave no answer.');
  return call.stream ? wholeAsStream(attempt, reply) : { kind: 'chat', reply, ...about(attempt) };
}

function operationOf({ provider }: Upstream): { path: string; codec: ChatCodec; max: number } {
  const operation = provider.operations.get('chat');
  if (!operation || !isChatCodec(operation.codec)) {
    throw new Error(`${provider.name} does not serve chat.`);
  }
  return { path: operation.path, codec: operation.codec, max: operation.max };
}

function about({ upstream, heading }: ChatAttempt): Pick<ChatAnswer, 'upstream' | 'heading'> {
  return { upstream, heading };
}

function aboutStream(
  attempt: ChatAttempt,
): Pick<ChatStream, 'upstream' | 'heading' | 'shown' | 'client'> {
  return { ...about(attempt), shown: attempt.shown, client: attempt.client };
}

function isJson(answer: WireAnswer): boolean {
  return /^application\/([\w.-]+\+)?json/iu.test(answer.headers['content-type'] ?? '');
}

async function beginStream(
  attempt: ChatAttempt,
  codec: ChatCodec,
  answer: WireAnswer,
): Promise<ChatStream> {
  const rest = openReader(attempt, codec, answer);
  const first = await rest.next();
  if (first) return { kind: 'chat-stream', first, rest, ...aboutStream(attempt) };
  throw new UpstreamError('broken', 'The upstream ended its stream with no answer.');
}

function openReader(attempt: ChatAttempt, codec: ChatCodec, { body }: WireAnswer): DeltaReader {
  const { call, upstream, limits } = attempt;
  const frames = codec.openFrames?.(limits) ?? new EventReader(limits);
  return new DeltaReader(body, frames, codec.decodeStream(call, upstream));
}

/** Some servers ignore `stream`; their one answer is then told as a stream of a few pieces. */
function wholeAsStream(attempt: ChatAttempt, reply: ChatReply): ChatStream {
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
  return { kind: 'chat-stream', first, rest, ...aboutStream(attempt) };
}
