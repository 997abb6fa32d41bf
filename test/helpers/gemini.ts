import type { ChatCall, ChatDelta, ReasoningDetail } from '../../src/modalities/chat/codec.js';
import type { Encoded } from '../../src/core/provider.js';
import type { Upstream } from '../../src/core/model.js';
import { EventReader } from '../../src/upstream/sse.js';
import type { ChatMessage } from '../../src/schema-types/chat-completion.js';
import { chat } from '../../providers/gemini.js';
import { providerAt, upstreamAt } from './upstream.js';

export const GEMINI_3 = 'gemini-3-flash-preview';
export const GEMINI_2_5 = 'gemini-2.5-flash';

/** A request's body as the codec of Gemini makes it. */
export interface GeminiBody {
  contents: { role: string; parts: Record<string, unknown>[] }[];
  systemInstruction?: { parts: Record<string, unknown>[] };
  generationConfig: Record<string, unknown>;
  tools?: Record<string, unknown>[];
  toolConfig?: Record<string, unknown>;
  safetySettings?: unknown;
}

/** What the codec sends for a call, which says hello unless it says something else. */
export function encoded(
  call: Partial<ChatCall>,
  upstream: Partial<Upstream> = {},
): Omit<Encoded, 'body'> & { body: GeminiBody } {
  const whole: ChatCall = {
    messages: [{ role: 'user', content: 'Hello.' }],
    stream: false,
    n: 1,
    max_tokens: undefined,
    fields: {},
    ...call,
  };
  const at = upstreamAt(providerAt('http://fake.invalid'), { model: GEMINI_2_5, ...upstream });
  const { body, ...rest } = chat.encode(whole, at);
  return { ...rest, body: body as unknown as GeminiBody };
}

/** The turns of a conversation. */
export function contentsOf(
  messages: readonly ChatMessage[],
  model = GEMINI_2_5,
): GeminiBody['contents'] {
  return encoded({ messages }, { model }).body.contents;
}

const CALL: ChatCall = { messages: [], stream: false, n: 1, max_tokens: 9, fields: {} };

/** What the codec reads in an answer. */
export function decoded(body: unknown): ReturnType<typeof chat.decode> {
  return chat.decode(body, CALL, upstreamAt(providerAt('http://fake.invalid')));
}

/** An answer of one candidate. */
export function answer(
  parts: readonly object[],
  more: object = {},
  finishReason = 'STOP',
): Record<string, unknown> {
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
    usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2, totalTokenCount: 6 },
    ...more,
  };
}

/** Events as the service frames them, with CR LF and no mark at the end. */
export function framed(events: readonly object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('');
}

export interface Heard {
  content: string;
  reasoning: string;
  details: ReasoningDetail[];
  calls: { id: string; name: string; arguments: string }[];
  finish: string | undefined;
  usage: unknown;
  deltas: ChatDelta[];
  error: unknown;
}

/** What a stream says, as far as it came. */
export function heard(packets: readonly Uint8Array[]): Heard {
  const decoder = chat.decodeStream(CALL, upstreamAt(providerAt('http://fake.invalid')));
  const reader = new EventReader({ event_bytes: 1_000_000, stream_bytes: 1_000_000 });
  const deltas: ChatDelta[] = [];
  let error: unknown;
  try {
    for (const packet of packets) decoder.read(reader.read(packet), deltas);
    if (!decoder.read(reader.finish(), deltas)) decoder.end(deltas);
  } catch (thrown) {
    error = thrown;
  }
  const calls = deltas.flatMap((delta) => delta.tool_calls ?? []);
  return {
    content: deltas.map((delta) => delta.content ?? '').join(''),
    reasoning: deltas.map((delta) => delta.reasoning_content ?? '').join(''),
    details: deltas.flatMap((delta) => delta.reasoning_details ?? []),
    calls: calls.map(({ id = '', function: { name = '', arguments: args = '' } }) => {
      return { id, name, arguments: args };
    }),
    finish: deltas.findLast((delta) => delta.finish_reason !== undefined)?.finish_reason,
    usage: deltas.findLast((delta) => delta.usage !== undefined)?.usage,
    deltas,
    error,
  };
}
