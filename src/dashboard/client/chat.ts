import { charged } from './charged.js';
import { dataOf } from './events.js';
import { call, posting, Refusal } from './gateway.js';
import { follow, type Turn } from './turns.js';

export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

interface Chunk {
  choices?: { delta?: { content?: string | null } }[];
  usage?: { prompt_tokens: number; completion_tokens: number };
  error?: { message: string };
}

/** Requests an answer and shows it as it streams; resolves with the whole text. */
export async function chat(
  turn: Turn,
  model: string,
  messages: readonly Message[],
  max_tokens: number | undefined,
  signal: AbortSignal,
): Promise<string> {
  const body = { model, messages, stream: true, ...(max_tokens !== undefined && { max_tokens }) };
  const answer = await call('/v1/chat/completions', { ...posting(body), signal });
  const reference = answer.headers.get('x-request-id') ?? '';
  const usage = answer.body ? await show(turn, answer.body) : undefined;
  const tokens = usage ? `${usage.prompt_tokens} → ${usage.completion_tokens} tokens` : '';
  await charged(turn, reference, tokens);
  return turn.words.textContent;
}

async function show(turn: Turn, body: ReadableStream<Uint8Array>): Promise<Chunk['usage']> {
  let usage: Chunk['usage'];
  for await (const data of dataOf(body)) {
    if (data === '[DONE]') break;
    const chunk = JSON.parse(data) as Chunk;
    if (chunk.error) throw new Refusal(chunk.error.message);
    turn.words.append(chunk.choices?.[0]?.delta?.content ?? '');
    if (turn.root.parentElement) follow(turn.root.parentElement);
    usage = chunk.usage ?? usage;
  }
  return usage;
}
