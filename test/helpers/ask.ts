import { expect } from 'chai';
import { holdShipped } from './promises.js';
import { expectShape } from './schemas.js';
import type { TestGateway } from './gateway.js';

export interface Answer {
  status: number;
  reason?: string;
  headers: Headers;
  text: string;
}

export interface WireError {
  message: string;
  type: string;
  code: string;
  param: string | null;
}

export interface Completion {
  id: string;
  model: string;
  choices: {
    index: number;
    message: { role: string; content: string | null; tool_calls?: object[] };
    finish_reason: string;
  }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

export interface Chunk {
  id: string;
  choices: {
    index: number;
    delta: { role?: string; content?: string };
    finish_reason: string | null;
  }[];
  usage?: Completion['usage'];
}

/**
 * One request of a client, with the test account's key unless `headers` say otherwise. Its answer is
 * held against the OpenAPI document, errors too.
 */
export async function ask(
  at: Pick<TestGateway, 'url' | 'secret'> & Partial<Pick<TestGateway, 'gateway'>>,
  path: string,
  init: RequestInit = {},
): Promise<Answer> {
  const headers = { authorization: `Bearer ${at.secret}`, ...(init.headers as object) };
  const response = await fetch(`${at.url}${path}`, { ...init, headers });
  const { status, statusText: reason } = response;
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const { method = 'GET' } = init;
  // Headers of other APIs change how models are listed, which the document says in words.
  const isOther = method === 'GET' && OTHER_KEYS.some((name) => name in headers);
  if (!isOther && !hasOwnStages(at.gateway)) holdShipped(method, path, { status, type, text });
  return { status, reason, headers: response.headers, text };
}

const OTHER_KEYS = ['x-api-key', 'anthropic-version', 'x-goog-api-key'];

/** Whether an operator's own stages may change the answers. */
function hasOwnStages(gateway: TestGateway['gateway'] | undefined): boolean {
  const stages = gateway?.configuration.endpoints.flatMap((endpoint) => endpoint.stages) ?? [];
  return stages.some(({ name }) => name.startsWith('.'));
}

/** A chat call; its answer is held against the schema of what it is, whatever the test is about. */
export async function chat(
  at: Pick<TestGateway, 'url' | 'secret'>,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await ask(at, '/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  expect(answer.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/u);
  if (answer.status !== 200) errorOf(answer);
  else if (isStream(answer)) chunksOf(answer);
  else completionOf(answer);
  return answer;
}

function isStream({ headers }: Answer): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** The error of an answer that must be one, in the one shape. */
export function errorOf({ text, headers }: Answer): WireError {
  expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
  const body = JSON.parse(text) as { error: WireError };
  expectShape('error', body);
  return body.error;
}

export function completionOf({ status, text }: Answer): Completion {
  expect(status, text).to.equal(200);
  const body = JSON.parse(text) as Completion;
  expectShape('chat-completion-response', body);
  return body;
}

/** The `data:` of every event, comments left out. Each must be framed as the contract says. */
export function eventsOf({ text }: Pick<Answer, 'text'>): string[] {
  expect(text).not.to.include('\r');
  expect(text.endsWith('\n\n')).to.equal(true);
  const events = text.slice(0, -2).split('\n\n');
  return events
    .filter((event) => !event.startsWith(':'))
    .map((event) => {
      expect(event).to.match(/^data: [^\n]+$/u);
      return event.slice('data: '.length);
    });
}

/** The chunks of a stream that must be whole, in the order that the contract wants. */
export function chunksOf(answer: Pick<Answer, 'text'>): Chunk[] {
  const events = eventsOf(answer);
  expect(events.pop()).to.equal('[DONE]');
  const chunks = events.map((event) => JSON.parse(event) as Chunk);
  for (const chunk of chunks) expectShape('chat-completion-chunk', chunk);
  expect(chunks.filter((chunk) => 'usage' in chunk)).to.deep.equal(chunks.slice(-1));
  const spoken = new Set<number>();
  const ended = new Set<number>();
  for (const { index, delta, finish_reason } of chunks.flatMap(({ choices }) => choices)) {
    expect('role' in delta, 'a role in the first delta only').to.equal(!spoken.has(index));
    if ('role' in delta) expect(delta).to.deep.equal({ role: 'assistant' });
    expect(ended.has(index), 'nothing after a finish reason').to.equal(false);
    spoken.add(index);
    if (finish_reason !== null) ended.add(index);
  }
  expect([...ended]).to.have.members([...spoken]);
  return chunks;
}
