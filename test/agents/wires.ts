import type { ServerResponse } from 'node:http';
import { startClaude } from '../helpers/claude-server.js';
import { startGemini, type Turn as GeminiTurn } from '../helpers/gemini-server.js';
import {
  chatJson,
  play,
  sse,
  startUpstream,
  type FakeUpstream,
  type Received,
  type Step,
} from '../helpers/upstream.js';
import { ASIDE_TEXT, FINAL_TEXT, Script, type ToolCall, type UpstreamCall } from './script.js';

export interface Wire {
  script: Script;
  /** Its entry among the providers of gateway.yaml. */
  provider: string;
  close(): Promise<void>;
}

/** Upstreams of each wire format, which follow a script. */
export const WIRES: Readonly<Record<string, () => Promise<Wire>>> = {
  'chat completions': startChatWire,
  'Anthropic Messages': startClaudeWire,
  Gemini: startGeminiWire,
};

function wireOf(upstream: FakeUpstream, script: Script, provider: string): Wire {
  return { script, provider: `{ ${provider} }`, close: () => upstream.close() };
}

interface AskedChat {
  stream?: boolean;
  messages: { role: string }[];
  tools?: { function?: { name: string } }[];
}

/** The usage of each answer is a different one, so that a charge tells which call it is for. */
export async function startChatWire(): Promise<Wire> {
  const script = new Script();
  const upstream = await startUpstream(async ({ json }: Received, response) => {
    const { messages, tools = [], stream } = json as AskedChat;
    const { turn, tool } = script.next({
      tools: tools.map((each) => each.function?.name ?? ''),
      hasResult: messages.findLast(({ role }) => role !== 'system')?.role === 'tool',
    });
    const usage = {
      prompt_tokens: 1000 + 10 * script.calls.length,
      cached_tokens: 100 * script.calls.length,
      completion_tokens: 50 + script.calls.length,
    };
    script.calls.push({ turn, usage });
    const said = turn === 'tool' ? tool : turn === 'text' ? FINAL_TEXT : ASIDE_TEXT;
    await answerChat(said, usage, stream ?? false, response);
  });
  return wireOf(upstream, script, `uses: openai, base_url: '${upstream.url}', api_key: sk-acme`);
}

async function answerChat(
  said: ToolCall | string,
  { prompt_tokens, cached_tokens, completion_tokens }: UpstreamCall['usage'],
  stream: boolean,
  response: ServerResponse,
): Promise<void> {
  const usage = {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens },
  };
  const finish_reason = typeof said === 'string' ? 'stop' : 'tool_calls';
  const message =
    typeof said === 'string'
      ? { role: 'assistant', content: said }
      : { role: 'assistant', content: null, tool_calls: [toolCall(said)] };
  const whole = { choices: [{ index: 0, message, finish_reason }], usage };
  await play(stream ? streamed(said, finish_reason, usage) : chatJson('', whole), response);
}

function toolCall(said: ToolCall, more = JSON.stringify(said.arguments)) {
  return { id: 'call_1', type: 'function', function: { name: said.name, arguments: more } };
}

function streamed(said: ToolCall | string, finish_reason: string, usage: object): Step {
  const chunk = (delta: object, reason: string | null = null): object => ({
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const piece = (text: string): object =>
    chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] });
  const text = typeof said === 'string' ? said : JSON.stringify(said.arguments);
  const halves = [text.slice(0, text.length / 2), text.slice(text.length / 2)];
  return sse([
    chunk({ role: 'assistant', content: typeof said === 'string' ? '' : null }),
    ...(typeof said === 'string'
      ? halves.map((content) => chunk({ content }))
      : [chunk({ tool_calls: [{ ...toolCall(said, ''), index: 0 }] }), ...halves.map(piece)]),
    chunk({}, finish_reason),
    { choices: [], usage },
    'data: [DONE]\n\n',
  ]);
}

/** Thinks before it calls a tool, where thinking is asked for, and checks its signatures. */
async function startClaudeWire(): Promise<Wire> {
  const script = new Script();
  const upstream = await startClaude(({ messages, tools = [], thinking }) => {
    const { turn, tool } = script.next({
      tools: tools.map(({ name }) => name),
      hasResult: messages.at(-1)?.content.some(({ type }) => type === 'tool_result') ?? false,
    });
    const usage = { prompt_tokens: 25, cached_tokens: 5, completion_tokens: 9 };
    script.calls.push({ turn, usage });
    if (turn !== 'tool') return [{ type: 'text', text: turn === 'text' ? FINAL_TEXT : ASIDE_TEXT }];
    const call = { type: 'tool_use', id: 'toolu_1', name: tool.name, input: tool.arguments };
    const thought = { type: 'thinking', thinking: 'A file is wanted.' };
    return thinking && thinking.type !== 'disabled' ? [thought, call] : [call];
  });
  return wireOf(upstream, script, `uses: anthropic, base_url: '${upstream.url}', api_key: sk-ant`);
}

/** Signs its tool call, and refuses a conversation that has lost the signature. */
async function startGeminiWire(): Promise<Wire> {
  const script = new Script();
  const upstream = await startGemini(({ contents, tools = [] }) => {
    const { turn, tool } = script.next({
      tools: tools.flatMap(({ functionDeclarations = [] }) =>
        (functionDeclarations as { name: string }[]).map(({ name }) => name),
      ),
      hasResult: contents.at(-1)?.parts.some((part) => part.functionResponse) ?? false,
    });
    const usage = { prompt_tokens: 4, cached_tokens: 0, completion_tokens: 2 };
    script.calls.push({ turn, usage });
    const functionCall = { name: tool.name, args: tool.arguments };
    const call: GeminiTurn = [{ functionCall, thoughtSignature: 'c2ln+/8=' }];
    return turn === 'aside' ? [[{ text: ASIDE_TEXT }]] : [call, [{ text: FINAL_TEXT }]];
  });
  const base_url = `${upstream.url}/v1beta`;
  return wireOf(upstream, script, `uses: gemini, base_url: '${base_url}', api_key: AIza-acme`);
}
