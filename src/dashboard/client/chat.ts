import { showCost } from './show-cost.js';
import { dataOf } from './events.js';
import { call, posting, Refusal } from './gateway.js';
import type { Call } from './shown-code.js';
import { Stopwatch } from './stopwatch.js';
import type { Turn } from './turns.js';

export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string | readonly Part[];
}

type Part = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } };

interface Chunk {
  choices?: { delta?: { content?: string | null } }[];
  usage?: { prompt_tokens: number; completion_tokens: number };
  error?: { message: string };
}

/** Requests an answer, and shows it streams, with its time and its cost. */
export async function chat(turn: Turn, { path, body }: Call, signal: AbortSignal): Promise<void> {
  const watch = new Stopwatch();
  const answer = await call(path, { ...posting({ ...body, stream: true }), signal });
  const reference = answer.headers.get('x-request-id') ?? '';
  const usage = answer.body ? await show(turn, answer.body, watch) : undefined;
  const times = watch.summary(usage?.completion_tokens);
  const tokens = usage ? [`${usage.prompt_tokens} → ${usage.completion_tokens} tokens`] : [];
  await showCost(turn, reference, [...tokens, ...times]);
}

async function show(
  turn: Turn,
  body: ReadableStream<Uint8Array>,
  watch: Stopwatch,
): Promise<Chunk['usage']> {
  let usage: Chunk['usage'];
  for await (const data of dataOf(body)) {
    if (data === '[DONE]') break;
    const chunk = JSON.parse(data) as Chunk;
    if (chunk.error) throw new Refusal(chunk.error.message);
    const text = chunk.choices?.[0]?.delta?.content ?? '';
    if (text !== '') {
      watch.begin();
      turn.write(text);
    }
    usage = chunk.usage ?? usage;
  }
  return usage;
}
