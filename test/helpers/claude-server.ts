import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { play, startUpstream, type FakeUpstream, type Received, type Step } from './upstream.js';

type Block = Record<string, unknown> & { type: string };

interface Asked {
  max_tokens: number;
  stream?: boolean;
  thinking?: { type: string; budget_tokens?: number };
  messages: { role: string; content: Block[] }[];
  tools?: { name: string }[];
}

/** What Claude says next, by the request: blocks without ids, and without signatures. */
export type Script = (asked: Asked) => Block[];

const USAGE = { input_tokens: 20, cache_read_input_tokens: 5, output_tokens: 9 };

/**
 * A Messages API on the loopback interface, as strict as Anthropic's: it answers 400 to empty text,
 * calls without results, and thoughts that are not its own or are missing from a round of tools.
 * Paths of Vertex AI are answered as Claude is there.
 */
export async function startClaude(script: Script): Promise<FakeUpstream> {
  return startUpstream((received, response) => answer(received, response, script));
}

async function answer(received: Received, response: ServerResponse, script: Script): Promise<void> {
  const verb = /:(rawPredict|streamRawPredict)$/u.exec(received.path)?.[1];
  const asked = received.json as Asked;
  const fault = (verb ? vertexFault : anthropicFault)(received) ?? faultOf(asked);
  if (fault !== undefined) {
    const error = { type: 'invalid_request_error', message: fault };
    return play({ status: 400, ...json({ type: 'error', error }) }, response);
  }
  const content = script(asked).map((block) => completed(block));
  const isCall = content.some(({ type }) => type === 'tool_use');
  const stop_reason = isCall ? 'tool_use' : 'end_turn';
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude' };
  const step = (verb ? verb === 'streamRawPredict' : asked.stream)
    ? streamed(message, content, stop_reason)
    : json({ ...message, content, stop_reason, usage: USAGE });
  return play(step, response);
}

function json(body: object): Step {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

function signed(text: unknown): string {
  return createHash('sha256')
    .update(`claude's own ${String(text)}`)
    .digest('base64');
}

function completed(block: Block): Block {
  return block.type === 'thinking' ? { ...block, signature: signed(block.thinking) } : block;
}

function streamed(message: object, content: readonly Block[], stop_reason: string): Step {
  const events: object[] = [
    { type: 'message_start', message: { ...message, content: [], usage: USAGE } },
    ...content.flatMap((block, index) => blockEvents(block, index)),
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ];
  const chunks = events.map((event) => {
    const { type } = event as Block;
    return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
  });
  return { headers: { 'content-type': 'text/event-stream; charset=utf-8' }, chunks };
}

function blockEvents(block: Block, index: number): object[] {
  const { text, thinking, signature, input, ...rest } = block;
  const add = (delta: object): object => ({ type: 'content_block_delta', index, delta });
  const halves = (whole: unknown): string[] => {
    const said = String(whole);
    return [said.slice(0, said.length / 2), said.slice(said.length / 2)];
  };
  const deltas = {
    text: () => halves(text).map((part) => add({ type: 'text_delta', text: part })),
    thinking: () => [
      ...halves(thinking).map((part) => add({ type: 'thinking_delta', thinking: part })),
      add({ type: 'signature_delta', signature }),
    ],
    tool_use: () =>
      halves(JSON.stringify(input)).map((part) =>
        add({ type: 'input_json_delta', partial_json: part }),
      ),
  }[block.type];
  const empty = { text: { text: '' }, thinking: { thinking: '', signature: '' } }[block.type];
  const content_block = { ...rest, ...empty, ...(block.type === 'tool_use' && { input: {} }) };
  return [
    { type: 'content_block_start', index, content_block },
    ...(deltas?.() ?? []),
    { type: 'content_block_stop', index },
  ];
}

function anthropicFault({ headers, json: asked }: Received): string | undefined {
  if (headers['x-api-key'] === undefined) return 'x-api-key is missing';
  if (headers['anthropic-version'] === undefined) return 'anthropic-version is missing';
  return (asked as Block).model === undefined ? 'model: Field required' : undefined;
}

/** There the path names the model and says whether it streams, and the body names the version. */
function vertexFault({ headers, json: asked }: Received): string | undefined {
  if (headers['x-goog-api-key'] === undefined) return 'The request has no credentials.';
  const { anthropic_version, ...rest } = asked as Block;
  if (anthropic_version !== 'vertex-2023-10-16') return 'anthropic_version: Field required';
  const more = ['model', 'stream'].find((name) => name in rest);
  return more && `${more}: Extra inputs are not permitted`;
}

function faultOf({ messages, max_tokens, thinking }: Asked): string | undefined {
  if (!Number.isInteger(max_tokens) || max_tokens < 1) return 'max_tokens is missing';
  if ((thinking?.budget_tokens ?? 0) >= max_tokens) return 'the budget is too large';
  if (messages[0]?.role !== 'user') return 'the first message must be the user';
  for (const [at, { role, content }] of messages.entries()) {
    const fault = turnFault(role, content, messages[at + 1]?.content ?? []);
    if (fault) return `messages.${at}: ${fault}`;
  }
  const last = messages.at(-1)?.content ?? [];
  const isRound = thinking?.type === 'enabled' && last.some(({ type }) => type === 'tool_result');
  const first = messages.findLast(({ role }) => role === 'assistant')?.content[0]?.type;
  if (isRound && first !== 'thinking' && first !== 'redacted_thinking') {
    return `Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\``;
  }
  return undefined;
}

function turnFault(role: string, content: readonly Block[], next: readonly Block[]) {
  if (role !== 'user' && role !== 'assistant') return `unexpected role ${role}`;
  if (content.length === 0) return 'must have non-empty content';
  for (const { type, text, thinking, signature, id } of content) {
    if (type === 'text' && String(text).trim() === '') return 'text must be non-empty';
    if (type === 'thinking' && signature !== signed(thinking)) return 'Invalid `signature`';
    const isAnswered = next.some(({ tool_use_id }) => tool_use_id === id);
    if (type === 'tool_use' && !isAnswered) return `\`tool_use\` ${String(id)} without a result`;
  }
  const firstOther = content.findIndex(({ type }) => type !== 'tool_result');
  const lastResult = content.findLastIndex(({ type }) => type === 'tool_result');
  return firstOther >= 0 && firstOther < lastResult ? '`tool_result` after others' : undefined;
}
