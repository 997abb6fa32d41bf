import { UpstreamError } from '../../core/upstream-error.js';
import type { WireReply } from '../../core/provider.js';
import { EventReader, StreamReader } from '../../upstream/sse.js';
import type { ChatReplyBase, ChatAttempt, ChatReplyStream, DeltaSource } from './call.js';
import type {
  Annotation,
  ChatChoice,
  ChatCodec,
  ChatDelta,
  ChatReply,
  HostedPart,
  StreamStep,
  ToolCall,
} from './codec.js';
import { NamedCallDecoder } from './tool-call-order.js';
import { textOfChoice } from './price.js';
import type { UsageReport } from './usage-report.js';
import type { ReplyMemory } from '../../upstream/reply-body.js';

/** Reads the deltas of a streamed answer. */
export function openReader(
  attempt: ChatAttempt,
  codec: ChatCodec,
  { body }: WireReply,
  report: UsageReport,
): StreamReader<ChatDelta> {
  const { call, upstream, limits } = attempt;
  const frames = codec.openFrames?.(limits) ?? new EventReader(limits);
  // Names come in pieces of what was sent, so they are whole before the client's take their place.
  const step: StreamStep = (decoder, sent) =>
    new NamedCallDecoder(report.noting(decoder), sent, limits);
  return new StreamReader(body, frames, codec.decodeStream(call, upstream, step));
}

/**
 * A stream whose first output has arrived, with the usage that came before it. An upstream that
 * fails earlier has given the client nothing, so another one can still answer. Throws
 * `UpstreamError` if there is no output.
 */
export async function beginStream(
  { visible, client }: ChatAttempt,
  base: ChatReplyBase,
  reply: WireReply,
  rest: StreamReader<ChatDelta>,
): Promise<ChatReplyStream> {
  const first: ChatDelta[] = [];
  for (let deltas = await rest.next(); deltas; deltas = await rest.next()) {
    for (const delta of deltas) first.push(delta);
    if (!deltas.some(({ index }) => index !== undefined)) continue;
    reply.liftTotal?.();
    return { kind: 'chat-stream', first, rest, visible, client, ...base };
  }
  throw new UpstreamError('broken', 'The upstream ended its stream with no answer.');
}

/** Turns a whole answer into a stream of a few deltas, for servers that ignore `stream`. */
export function wholeAsStream(
  { visible, client }: ChatAttempt,
  base: ChatReplyBase,
  reply: ChatReply,
): ChatReplyStream {
  const choices = reply.choices.map(({ index, content, tool_calls, finish_reason, ...rest }) => ({
    index,
    ...(content !== null && { content }),
    ...(tool_calls && { tool_calls: tool_calls.map((call, at) => ({ index: at, ...call })) }),
    ...rest,
    finish_reason: finish_reason ?? 'stop',
  }));
  const first = [{ usage: reply.usage }, ...choices];
  const rest: DeltaSource = { each: () => Promise.resolve(), leave: () => undefined };
  return { kind: 'chat-stream', first, rest, visible, client, ...base };
}

/** One choice, as far as its deltas have arrived. */
interface OpenChoice {
  content: string;
  is_refusal?: true;
  reasoning: string;
  details: NonNullable<ChatChoice['reasoning_details']>;
  hosted: HostedPart[];
  annotations: Annotation[];
  calls: Map<number, ToolCall>;
  finish: string | null;
  stop_sequence?: string;
}

/**
 * Reads a stream to its end and joins it to one answer, whose text counts for the memory of the
 * client. Rejects with the `UpstreamError` of a stream that fails or is incomplete; `report` then
 * gets the text that has come.
 */
export async function readWhole(
  reader: StreamReader<ChatDelta>,
  memory: ReplyMemory | undefined,
  report: UsageReport,
): Promise<ChatReply> {
  const choices = new Map<number, OpenChoice>();
  let others: ChatReply['others'];
  try {
    for (let deltas = await reader.next(); deltas; deltas = await reader.next()) {
      for (const delta of deltas) {
        if (delta.others) others = { ...others, ...delta.others };
        if (delta.index === undefined) continue;
        const added = add(delta, choiceAt(choices, delta.index));
        memory?.grow(added);
      }
    }
  } catch (error) {
    reader.leave();
    report.unseen = [...choices].map(([index, choice]) => ({
      index: report.from + index,
      text: textOfChoice(closed(index, choice)),
    }));
    throw error;
  }
  const { usage } = report;
  const read = [...choices].map(([index, choice]) => closed(index, choice));
  return { choices: read, usage, ...(others && { others }) };
}

function choiceAt(choices: Map<number, OpenChoice>, index: number): OpenChoice {
  const known = choices.get(index);
  if (known) return known;
  const calls = new Map<number, ToolCall>();
  const lists = { details: [], hosted: [], annotations: [] };
  const choice: OpenChoice = { content: '', reasoning: '', ...lists, calls, finish: null };
  choices.set(index, choice);
  return choice;
}

/** Adds a delta to its choice, and returns the number of characters added. */
function add(delta: ChatDelta, choice: OpenChoice): number {
  let added = (delta.content ?? '').length + (delta.reasoning_content ?? '').length;
  if (delta.is_refusal && choice.content === '') choice.is_refusal = true;
  for (const part of delta.hosted_parts ?? []) {
    choice.hosted.push({
      ...part,
      at: choice.content.length,
      after: choice.details.length,
    });
    added += JSON.stringify(part.part).length;
  }
  for (const annotation of delta.annotations ?? []) choice.annotations.push(annotation);
  choice.content += delta.content ?? '';
  choice.reasoning += delta.reasoning_content ?? '';
  // A list from an upstream may be too long to be arguments.
  for (const detail of delta.reasoning_details ?? []) choice.details.push(detail);
  choice.finish = delta.finish_reason ?? choice.finish;
  if (delta.stop_sequence !== undefined) choice.stop_sequence = delta.stop_sequence;
  for (const { index, id, function: fragment } of delta.tool_calls ?? []) {
    const none: ToolCall = { id: '', type: 'function', function: { name: '', arguments: '' } };
    const call = choice.calls.get(index) ?? none;
    choice.calls.set(index, call);
    call.id ||= id ?? '';
    call.function.name ||= fragment.name ?? '';
    call.function.arguments += fragment.arguments ?? '';
    added += (fragment.arguments ?? '').length;
  }
  return added;
}

function closed(index: number, choice: OpenChoice): ChatChoice {
  const { content, is_refusal, reasoning, details, calls, finish, stop_sequence } = choice;
  const { hosted, annotations } = choice;
  return {
    index,
    content: content === '' && calls.size > 0 ? null : content,
    ...(is_refusal && { is_refusal }),
    ...(calls.size > 0 && { tool_calls: [...calls.values()] }),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(hosted.length > 0 && { hosted_parts: hosted }),
    ...(annotations.length > 0 && { annotations }),
    finish_reason: finish,
    ...(stop_sequence !== undefined && { stop_sequence }),
  };
}
