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
import { Script, type Said, type ToolCall, type UpstreamCall } from './script.js';

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
    const said = script.next({
      tools: tools.map((each) => each.function?.name ?? ''),
      results: messages.filter(({ role }) => role === 'tool').length,
    });
    const usage = {
      prompt_tokens: 1000 + 10 * script.calls.length,
      cached_tokens: 100 * script.calls.length,
      completion_tokens: 50 + script.calls.length,
    };
    script.calls.push({ turn: said.turn, usage });
    await answerChat(said, usage, stream ?? false, response);
  });
  return wireOf(upstream, script, `uses: openai, base_url: '${upstream.url}', api_key: sk-acme`);
}

async function answerChat(
  said: Said,
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
  const finish_reason = 'text' in said ? 'stop' : 'tool_calls';
  const message =
    'text' in said
      ? { role: 'assistant', content: said.text }
      : { role: 'assistant', content: null, tool_calls: [toolCall(said)] };
  const whole = { choices: [{ index: 0, message, finish_reason }], usage };
  await play(stream ? streamed(said, finish_reason, usage) : chatJson('', whole), response);
}

type SaidCall = Extract<Said, { call: ToolCall }>;

function toolCall({ call, number }: SaidCall, written = JSON.stringify(call.arguments)) {
  return {
    id: `call_${number}`,
    type: 'function',
    function: { name: call.name, arguments: written },
  };
}

function streamed(said: Said, finish_reason: string, usage: object): Step {
  const chunk = (delta: object, reason: string | null = null): object => ({
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const piece = (text: string): object =>
    chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] });
  const text = 'text' in said ? said.text : JSON.stringify(said.call.arguments);
  const halves = [text.slice(0, text.length / 2), text.slice(text.length / 2)];
  return sse([
    chunk({ role: 'assistant', content: 'text' in said ? '' : null }),
    ...('text' in said
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
    const blocks = messages.flatMap(({ content }) => content);
    const said = script.next({
      tools: tools.map(({ name }) => name),
      results: blocks.filter(({ type }) => type === 'tool_result').length,
    });
    const usage = { prompt_tokens: 25, cached_tokens: 5, completion_tokens: 9 };
    script.calls.push({ turn: said.turn, usage });
    if ('text' in said) return [{ type: 'text', text: said.text }];
    const { call, number } = said;
    const use = {
      type: 'tool_use',
      id: `toolu_${number}`,
      name: call.name,
      input: call.arguments,
    };
    const thought = { type: 'thinking', thinking: 'A file is wanted.' };
    return thinking && thinking.type !== 'disabled' ? [thought, use] : [use];
  });
  return wireOf(upstream, script, `uses: anthropic, base_url: '${upstream.url}', api_key: sk-ant`);
}

/** Signs its tool calls, and refuses a conversation that has lost a signature. */
async function startGeminiWire(): Promise<Wire> {
  const script = new Script();
  const upstream = await startGemini(({ contents, tools = [] }) => {
    const parts = contents.flatMap((each) => each.parts);
    const said = script.next({
      tools: tools.flatMap(({ functionDeclarations = [] }) =>
        (functionDeclarations as { name: string }[]).map(({ name }) => name),
      ),
      results: parts.filter((part) => part.functionResponse).length,
    });
    const usage = { prompt_tokens: 4, cached_tokens: 0, completion_tokens: 2 };
    script.calls.push({ turn: said.turn, usage });
    const signed = parts.filter((part) => part.functionCall);
    const earlier = signed.map((part) => ({ ...part, thoughtSignature: SIGNATURE }));
    const turns = contents.filter(({ role }) => role === 'model').length;
    return [...Array.from({ length: turns }, () => earlier), [partOf(said)]];
  });
  const base_url = `${upstream.url}/v1beta`;
  return wireOf(upstream, script, `uses: gemini, base_url: '${base_url}', api_key: AIza-acme`);
}

const SIGNATURE = 'c2ln+/8=';

function partOf(said: Said): GeminiTurn[number] {
  if ('text' in said) return { text: said.text };
  const functionCall = { name: said.call.name, args: said.call.arguments };
  return { functionCall, thoughtSignature: SIGNATURE };
}
