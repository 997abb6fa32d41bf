import { parseJson } from '../../src/lib/json-text.js';
import { recordsIn } from '../../src/lib/objects.js';
import type { ChatCall, ChatDelta, StreamDecoder } from '../../src/modalities/chat/codec.js';
import type { Provider } from '../../src/core/provider.js';
import { classifyErrorInside } from '../../src/upstream/classify-error.js';
import {
  annotationsIn,
  broken,
  checked,
  finishOf,
  isIndex,
  replyTextIn,
  tierIn,
  usageIn,
  hasThinkTags,
  newThink,
  splitThink,
  type Think,
} from './answer.js';
import { signatureDetail, detailsIn } from './messages.js';
import { OpenCalls } from './tools.js';
import { countsOfNames, noteExecuted } from './tool-counts.js';
import type { ServerSentEvent } from '../../src/upstream/sse.js';
import type { Upstream } from '../../src/core/model.js';

/** One choice of a stream, from its first delta on. */
interface StreamedChoice {
  calls: OpenCalls;
  think: Think | undefined;
  finish: string | undefined;
  hasSpoken: boolean;
}

type Choices = Map<number, StreamedChoice>;

interface Stream {
  choices: Choices;
  repeated: RepeatedChunk;
  provider: Provider;
  /** Whether texts may open with their reasoning. */
  reads_tags: boolean;
  /** The number of choices that were asked for; no client sees any beyond them. */
  n: number;
  cost: StreamedCost;
}

/** What the chunks have said of the cost beside the usage. */
interface StreamedCost {
  tier: string | undefined;
  /** The tools that the server has run, by their index. */
  executed: Map<unknown, string>;
}

function newCost(): StreamedCost {
  return { tier: undefined, executed: new Map() };
}

/**
 * Decodes deltas packet by packet. The end of a choice is reported only at the end of the stream,
 * because upstreams send finish reasons twice, change them, or send an error afterwards.
 */
export function decodeStream(call: ChatCall, { provider }: Upstream): StreamDecoder {
  const reads_tags = hasThinkTags(call, provider.wire);
  const repeated = newRepeatedChunk();
  const choices: Choices = new Map();
  const stream: Stream = { choices, repeated, provider, reads_tags, n: call.n, cost: newCost() };
  return {
    read: (packet, deltas) => readPacket(packet, stream, deltas),
    end: (deltas) => void deltas.push(...closing(stream.choices, false)),
  };
}

/** Adds the deltas of a packet. Returns true once the stream has marked its end. */
function readPacket(
  packet: readonly ServerSentEvent[],
  stream: Stream,
  deltas: ChatDelta[],
): boolean {
  for (const { event, data } of packet) {
    if (event === 'error') throw classifyErrorInside(data, stream.provider);
    const text = data.trim();
    if (text === '[DONE]') {
      deltas.push(...closing(stream.choices, true));
      return true;
    }
    if (text !== '') readChunk(text, stream, deltas);
  }
  return false;
}

function readChunk(data: string, stream: Stream, deltas: ChatDelta[]): void {
  const { repeated } = stream;
  const content = repeatedText(repeated, data);
  if (content !== undefined) {
    deltas.push({ content, index: repeated.index });
    return;
  }
  const read = readWhole(data, stream);
  for (const delta of read) deltas.push(delta);
  const index = read[0]?.index ?? 0;
  const text = textAlone(read);
  // A text that may still contain reasoning cannot use the fast path.
  const { phase = 'outside' } = stream.choices.get(index)?.think ?? {};
  if (text === undefined || phase !== 'outside') return;
  const fresh = { ...stream, choices: new Map(), cost: newCost() };
  rememberChunk(repeated, data, { index, text }, (probe) => textAlone(readWhole(probe, fresh)));
}

function readWhole(data: string, stream: Stream): ChatDelta[] {
  const { provider, cost } = stream;
  const deltas: ChatDelta[] = [];
  const chunk = checked(parse(data), provider);
  cost.tier = tierIn(chunk) ?? cost.tier;
  for (const choice of recordsIn(chunk.choices)) {
    const delta = readChoice(choice, stream);
    if (delta) deltas.push(delta);
  }
  const { tier, executed } = cost;
  const usage = usageIn(chunk, provider.wire, {
    tier,
    tool_calls: countsOfNames(executed.values()),
  });
  if (usage) deltas.push({ usage });
  return deltas;
}

/** The text of deltas that are one text and nothing more. */
function textAlone([delta, ...more]: readonly ChatDelta[]): string | undefined {
  if (!delta || more.length > 0 || Object.keys(delta).length !== 2) return undefined;
  return delta.index === undefined ? undefined : delta.content;
}

function parse(data: string): unknown {
  const event = parseJson(data);
  if (event === undefined) throw broken('The upstream sent an event that is not JSON.');
  return event;
}

/**
 * Undefined for a chunk without content (a role, an annotation, the end), or of a choice that was
 * not asked for: a stream of such choices alone is no answer.
 */
function readChoice(
  chunk: Record<string, unknown>,
  { choices, provider, reads_tags, n, cost }: Stream,
): ChatDelta | undefined {
  const finish = finishOf(chunk, provider);
  const [raw] = recordsIn([chunk.delta]);
  if (raw) noteExecuted(raw, cost.executed);
  if (!raw && finish === null) return undefined;
  const index = isIndex(chunk.index) ? chunk.index : 0;
  if (index >= n) return undefined;
  const choice = choices.get(index) ?? newChoice(reads_tags);
  choices.set(index, choice);
  if (finish !== null) choice.finish = finish;
  const delta = raw ? readDelta(raw, choice) : {};
  if (chunk.logprobs != null) delta.logprobs = chunk.logprobs;
  if (Object.keys(delta).length === 0) return undefined;
  choice.hasSpoken = true;
  delta.index = index;
  return delta;
}

function newChoice(reads_tags: boolean): StreamedChoice {
  const think = reads_tags ? newThink() : undefined;
  return { calls: new OpenCalls(), think, finish: undefined, hasSpoken: false };
}

function readDelta(raw: Record<string, unknown>, choice: StreamedChoice): ChatDelta {
  const reply = replyTextIn(raw);
  if (choice.think && reply.content) {
    const split = splitThink(choice.think, reply.content, false);
    reply.content = split.content;
    reply.reasoning += split.reasoning;
  }
  const tool_calls = raw.tool_calls ? choice.calls.fragmentsIn(raw.tool_calls) : [];
  const delta: ChatDelta = {};
  if (reply.content) delta.content = reply.content;
  if (reply.content && reply.is_refusal) delta.is_refusal = true;
  if (reply.reasoning) delta.reasoning_content = reply.reasoning;
  const details = [...detailsIn(raw.reasoning_details), ...signatureDetail(raw)];
  if (details.length > 0) delta.reasoning_details = details;
  if (tool_calls.length > 0) delta.tool_calls = tool_calls;
  const annotations = annotationsIn(raw);
  if (annotations) delta.annotations = annotations;
  return delta;
}

/** The last deltas of a stream. Throws if it ended without marking its end. */
function closing(choices: Choices, isDone: boolean): ChatDelta[] {
  if (choices.size === 0) throw broken('The upstream ended its stream with no answer.');
  return [...choices].map(([index, choice]) => {
    const held = choice.think && splitThink(choice.think, '', true);
    const hasSpoken = choice.hasSpoken || Boolean(held?.content);
    const finish = choice.finish ?? (isDone && hasSpoken ? 'stop' : undefined);
    if (finish === undefined) throw broken("The upstream's stream broke off.");
    const ends = choice.calls.ends();
    return {
      index,
      ...(ends.length > 0 && { tool_calls: ends }),
      ...(held?.content && { content: held.content }),
      ...(held?.reasoning && { reasoning_content: held.reasoning }),
      finish_reason: finish,
    };
  });
}

/**
 * Most chunks of a stream differ only in their text. If all other bytes are equal to those of the
 * last chunk, its parsed form is used again with the new text, because parsing a chunk costs more
 * than all other work on it.
 */
export interface RepeatedChunk {
  head: string;
  tail: string;
  /** The choice that such a chunk speaks for. */
  index: number;
  /** How many chunks were remembered since one was recognised. */
  remembered: number;
}

/** Some upstreams never send two chunks alike; they are not studied for ever. */
const MAX_REMEMBERED = 8;

/** A JSON string without escapes. */
const PLAIN = /^[^"\\\p{Cc}]+$/u;

/** Not found by chance in a chunk. */
const PROBE = 'tollgate-probe';

export function newRepeatedChunk(): RepeatedChunk {
  return { head: '', tail: '', index: 0, remembered: 0 };
}

/** The text of a chunk that otherwise equals the remembered one; undefined if it must be parsed. */
export function repeatedText(repeated: RepeatedChunk, data: string): string | undefined {
  const { head, tail } = repeated;
  const end = data.length - tail.length;
  // `startsWith` goes letter by letter and would cost as much as parsing.
  if (head === '' || data.slice(0, head.length) !== head || data.slice(end) !== tail) {
    return undefined;
  }
  const text = data.slice(head.length, end);
  if (!PLAIN.test(text)) return undefined;
  repeated.remembered = 0;
  return text;
}

/**
 * Remembers a chunk that has only `text` for a choice. To verify the place of the text, it replaces
 * the text by another one and lets `read` parse the result.
 */
export function rememberChunk(
  repeated: RepeatedChunk,
  data: string,
  { index, text }: { index: number; text: string },
  read: (data: string) => string | undefined,
): void {
  if (repeated.remembered >= MAX_REMEMBERED || !PLAIN.test(text)) return;
  repeated.remembered += 1;
  const field = `"content":"${text}"`;
  const at = data.indexOf(field);
  if (at < 0) return;
  const head = data.slice(0, at + field.length - text.length - 1);
  const tail = data.slice(at + field.length - 1);
  if (read(head + PROBE + tail) !== PROBE) return;
  Object.assign(repeated, { head, tail, index });
}
