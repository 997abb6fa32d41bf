import type { ChatCall, ChatDelta, StreamDecoder } from '../../src/modalities/chat/codec.js';
import type { Provider } from '../../src/core/provider.js';
import { classifyErrorInside } from '../../src/upstream/classify-error.js';
import {
  broken,
  checked,
  finishOf,
  isIndex,
  recordsIn,
  spokenIn,
  usageIn,
  hasThinkTags,
  newThink,
  splitThink,
  type Think,
} from './answer.js';
import { signatureDetail, detailsIn } from './messages.js';
import { endsOf, fragmentsIn, type OpenCall } from './tools.js';
import type { ServerSentEvent } from '../../src/upstream/sse.js';
import type { Upstream } from '../../src/core/model.js';

/** One choice of a stream, from its first delta on. */
interface Choice {
  calls: OpenCall[];
  think: Think | undefined;
  finish: string | undefined;
  hasSpoken: boolean;
}

type Choices = Map<number, Choice>;

interface Stream {
  choices: Choices;
  echo: Echo;
  provider: Provider;
  /** Whether texts may open with their reasoning. */
  reads_tags: boolean;
}

/**
 * Pieces as they come, packet by packet. The end of a choice is told only at the end of the stream:
 * until then upstreams may say it twice, change their minds, or report an error after it.
 */
export function decodeStream(call: ChatCall, { provider }: Upstream): StreamDecoder {
  const reads_tags = hasThinkTags(call, provider.wire);
  const stream: Stream = { choices: new Map(), echo: newEcho(), provider, reads_tags };
  return {
    read: (packet, pieces) => readPacket(packet, stream, pieces),
    end: (pieces) => void pieces.push(...closing(stream.choices, false)),
  };
}

/** Adds the pieces of a packet; true once the stream has said that it is over. */
function readPacket(
  packet: readonly ServerSentEvent[],
  stream: Stream,
  pieces: ChatDelta[],
): boolean {
  for (const { event, data } of packet) {
    if (event === 'error') throw classifyErrorInside(data, stream.provider);
    const text = data.trim();
    if (text === '[DONE]') {
      pieces.push(...closing(stream.choices, true));
      return true;
    }
    if (text !== '') readChunk(text, stream, pieces);
  }
  return false;
}

function readChunk(data: string, stream: Stream, pieces: ChatDelta[]): void {
  const { echo } = stream;
  const content = echoed(echo, data);
  if (content !== undefined) {
    pieces.push({ content, index: echo.index });
    return;
  }
  const deltas = readWhole(data, stream);
  for (const piece of deltas) pieces.push(piece);
  const index = deltas[0]?.index ?? 0;
  const text = textAlone(deltas);
  // Where a text may still hold its reasoning, it is not all that a chunk says.
  const { phase = 'outside' } = stream.choices.get(index)?.think ?? {};
  if (text === undefined || phase !== 'outside') return;
  const fresh = { ...stream, choices: new Map() };
  learn(echo, data, { index, text }, (probe) => textAlone(readWhole(probe, fresh)));
}

function readWhole(data: string, stream: Stream): ChatDelta[] {
  const { provider } = stream;
  const pieces: ChatDelta[] = [];
  const chunk = checked(parse(data), provider);
  for (const choice of recordsIn(chunk['choices'])) {
    const piece = readChoice(choice, stream);
    if (piece) pieces.push(piece);
  }
  const usage = usageIn(chunk, provider.wire);
  if (usage) pieces.push({ usage });
  return pieces;
}

/** The text of pieces that are one text and nothing more. */
function textAlone([piece, ...more]: readonly ChatDelta[]): string | undefined {
  if (!piece || more.length > 0 || Object.keys(piece).length !== 2) return undefined;
  return piece.index === undefined ? undefined : piece.content;
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw broken('The upstream sent an event that is not JSON.');
  }
}

/** Undefined where a chunk says nothing: a role, an annotation, the end. */
function readChoice(
  chunk: Record<string, unknown>,
  { choices, provider, reads_tags }: Stream,
): ChatDelta | undefined {
  const finish = finishOf(chunk, provider);
  const [delta] = recordsIn([chunk['delta']]);
  if (!delta && finish === null) return undefined;
  const index = isIndex(chunk['index']) ? chunk['index'] : 0;
  const choice = choices.get(index) ?? newChoice(reads_tags);
  choices.set(index, choice);
  if (finish !== null) choice.finish = finish;
  const piece = delta ? readDelta(delta, choice) : {};
  if (chunk['logprobs'] != null) piece.logprobs = chunk['logprobs'];
  if (Object.keys(piece).length === 0) return undefined;
  choice.hasSpoken = true;
  piece.index = index;
  return piece;
}

function newChoice(reads_tags: boolean): Choice {
  const think = reads_tags ? newThink() : undefined;
  return { calls: [], think, finish: undefined, hasSpoken: false };
}

function readDelta(delta: Record<string, unknown>, choice: Choice): ChatDelta {
  const spoken = spokenIn(delta);
  if (choice.think && spoken.content) {
    const split = splitThink(choice.think, spoken.content, false);
    spoken.content = split.content;
    spoken.reasoning += split.reasoning;
  }
  const tool_calls = delta['tool_calls'] ? fragmentsIn(delta['tool_calls'], choice.calls) : [];
  const piece: ChatDelta = {};
  if (spoken.content) piece.content = spoken.content;
  if (spoken.reasoning) piece.reasoning_content = spoken.reasoning;
  const details = [...detailsIn(delta['reasoning_details']), ...signatureDetail(delta)];
  if (details.length > 0) piece.reasoning_details = details;
  if (tool_calls.length > 0) piece.tool_calls = tool_calls;
  return piece;
}

/** The last pieces of a stream. Throws where it ended without saying that it is complete. */
function closing(choices: Choices, isDone: boolean): ChatDelta[] {
  if (choices.size === 0) throw broken('The upstream ended its stream with no answer.');
  return [...choices].map(([index, choice]) => {
    const held = choice.think && splitThink(choice.think, '', true);
    const hasSpoken = choice.hasSpoken || Boolean(held?.content);
    const finish = choice.finish ?? (isDone && hasSpoken ? 'stop' : undefined);
    if (finish === undefined) throw broken("The upstream's stream broke off.");
    const ends = endsOf(choice.calls);
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
 * Most chunks of a stream differ in nothing but their text. Where all the rest is the same to the
 * letter, what was read out of it last time holds again, and only the text is new: parsing a chunk
 * whole costs more than everything else that is done to it.
 */
export interface Echo {
  head: string;
  tail: string;
  /** The choice that such a chunk speaks for. */
  index: number;
  /** How many chunks were learnt from since one was recognised. */
  learnt: number;
}

/** Some upstreams never send two chunks alike; they are not studied for ever. */
const MAX_LEARNT = 8;

/** What a JSON string says by itself, without an escape. */
const PLAIN = /^[^"\\\p{Cc}]+$/u;

/** Not found by chance in a chunk. */
const PROBE = 'tollgate-probe';

export function newEcho(): Echo {
  return { head: '', tail: '', index: 0, learnt: 0 };
}

/** The text of a chunk that is otherwise like the one learnt; undefined where it has to be read. */
export function echoed(echo: Echo, data: string): string | undefined {
  const { head, tail } = echo;
  const end = data.length - tail.length;
  // `startsWith` goes letter by letter and would cost as much as parsing.
  if (head === '' || data.slice(0, head.length) !== head || data.slice(end) !== tail) {
    return undefined;
  }
  const text = data.slice(head.length, end);
  if (!PLAIN.test(text)) return undefined;
  echo.learnt = 0;
  return text;
}

/**
 * Learns a chunk that says nothing but `text` for a choice. `read` answers what a chunk says so;
 * it is asked about another text in the same place, so that the place is known to be the right one.
 */
export function learn(
  echo: Echo,
  data: string,
  { index, text }: { index: number; text: string },
  read: (data: string) => string | undefined,
): void {
  if (echo.learnt >= MAX_LEARNT || !PLAIN.test(text)) return;
  echo.learnt += 1;
  const field = `"content":"${text}"`;
  const at = data.indexOf(field);
  if (at < 0) return;
  const head = data.slice(0, at + field.length - text.length - 1);
  const tail = data.slice(at + field.length - 1);
  if (read(head + PROBE + tail) !== PROBE) return;
  Object.assign(echo, { head, tail, index });
}
