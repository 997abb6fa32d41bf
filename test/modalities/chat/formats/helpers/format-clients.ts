import type { Answer } from '../../../../helpers/ask.js';
import { joined } from '../../../../helpers/conversation.js';
import {
  at,
  eventsIn,
  listAt,
  SYSTEM,
  TEXT,
  textAt,
  TOOL,
  type Call,
  type Question,
  type Told,
} from './conversation-parts.js';

/** A client of one format, without an SDK's help. */
export interface FormatClient {
  path(model: string, stream: boolean): string;
  body(model: string, question: Question, stream: boolean): Record<string, unknown>;
  /** The field that a conversation grows in. */
  turns: string;
  /** The results of calls, as the client puts them behind its request. */
  results(calls: Told['calls'], result: string): object[];
  read(answer: Answer, stream: boolean): Told;
}

type Fields = Record<string, unknown>;

const MAX_LENGTH = 4_000;

function argsOf(text: unknown): unknown {
  return JSON.parse(String(text));
}

const chatCompletions: FormatClient = {
  path: () => '/v1/chat/completions',
  turns: 'messages',
  body: (model, { image, hasTools, mustCall, thinks }, stream) => ({
    model,
    stream,
    max_tokens: MAX_LENGTH,
    messages: [
      { role: 'system', content: SYSTEM },
      {
        role: 'user',
        content: image
          ? [
              { type: 'text', text: TEXT },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
            ]
          : TEXT,
      },
    ],
    ...(hasTools && { tools: [{ type: 'function', function: TOOL }] }),
    ...(mustCall && { tool_choice: 'required' }),
    ...(thinks && { reasoning_effort: 'low' }),
  }),
  results: (calls, content) => calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content })),
  read: ({ text }, stream) => {
    const events = stream ? eventsIn(text) : [JSON.parse(text)];
    const deltas = events.map((event) => at(event, 'choices', 0, 'delta') as object | undefined);
    const message = stream
      ? joined(deltas.filter((delta) => delta !== undefined))
      : at(events[0], 'choices', 0, 'message');
    return {
      thought: textAt(message, 'reasoning_content'),
      text: textAt(message, 'content'),
      calls: listAt(message, 'tool_calls').map((call) => ({
        id: textAt(call, 'id'),
        name: textAt(call, 'function', 'name'),
        args: argsOf(at(call, 'function', 'arguments')),
      })),
      prompt_tokens: Number(at(events.at(-1), 'usage', 'prompt_tokens')),
      completion_tokens: Number(at(events.at(-1), 'usage', 'completion_tokens')),
      echo: [message as object],
    };
  },
};

/** A message that a stream of the Messages API builds up. */
function builtMessage(events: readonly unknown[]): Fields {
  const message = { ...(at(events[0], 'message') as Fields) };
  const content: Fields[] = [];
  const json: Record<number, string> = {};
  for (const event of events) {
    const index = Number(at(event, 'index'));
    const type = at(event, 'type');
    if (type === 'content_block_start') content[index] = at(event, 'content_block') as Fields;
    const delta = (type === 'content_block_delta' ? at(event, 'delta') : {}) as Fields;
    const { type: _, partial_json, ...texts } = delta;
    if (partial_json !== undefined)
      json[index] = (json[index] ?? '') + textAt(delta, 'partial_json');
    const block = content[index] ?? {};
    for (const name of Object.keys(texts)) {
      block[name] = textAt(block, name) + textAt(texts, name);
    }
    if (type === 'content_block_stop' && json[index]) block.input = argsOf(json[index]);
    if (type === 'message_delta') message.usage = at(event, 'usage');
  }
  return { ...message, content };
}

const messages: FormatClient = {
  path: () => '/v1/messages',
  turns: 'messages',
  body: (model, { image, hasTools, mustCall, thinks }, stream) => ({
    model,
    stream,
    max_tokens: MAX_LENGTH,
    system: [{ type: 'text', text: SYSTEM }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: TEXT },
          ...(image
            ? [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } }]
            : []),
        ],
      },
    ],
    ...(hasTools && {
      tools: [{ name: TOOL.name, description: TOOL.description, input_schema: TOOL.parameters }],
    }),
    ...(mustCall && { tool_choice: { type: 'any' } }),
    ...(thinks && { thinking: { type: 'enabled', budget_tokens: 2_048 } }),
  }),
  results: (calls, content) => [
    {
      role: 'user',
      content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content })),
    },
  ],
  read: ({ text }, stream) => {
    const message: unknown = stream ? builtMessage(eventsIn(text)) : JSON.parse(text);
    const blocks = listAt(message, 'content');
    const of = (type: string): unknown[] => blocks.filter((block) => at(block, 'type') === type);
    const tokens = (name: string): number => Number(at(message, 'usage', name) ?? 0);
    return {
      thought: of('thinking')
        .map((block) => textAt(block, 'thinking'))
        .join(''),
      text: of('text')
        .map((block) => textAt(block, 'text'))
        .join(''),
      calls: of('tool_use').map((block) => ({
        id: textAt(block, 'id'),
        name: textAt(block, 'name'),
        args: at(block, 'input'),
      })),
      prompt_tokens:
        tokens('input_tokens') +
        tokens('cache_read_input_tokens') +
        tokens('cache_creation_input_tokens'),
      completion_tokens: tokens('output_tokens'),
      echo: [{ role: 'assistant', content: blocks }],
    };
  },
};

const responses: FormatClient = {
  path: () => '/v1/responses',
  turns: 'input',
  body: (model, { image, hasTools, mustCall, thinks }, stream) => ({
    model,
    stream,
    store: false,
    max_output_tokens: MAX_LENGTH,
    instructions: SYSTEM,
    input: [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: TEXT },
          ...(image
            ? [{ type: 'input_image', image_url: `data:image/png;base64,${image}`, detail: 'auto' }]
            : []),
        ],
      },
    ],
    ...(hasTools && { tools: [{ type: 'function', ...TOOL, strict: false }] }),
    ...(mustCall && { tool_choice: 'required' }),
    ...(thinks && {
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    }),
  }),
  results: (calls, output) =>
    calls.map(({ id }) => ({ type: 'function_call_output', call_id: id, output })),
  read: ({ text }, stream) => {
    const events = stream ? eventsIn(text) : [];
    const answer: unknown = stream ? at(events.at(-1), 'response') : JSON.parse(text);
    const items = listAt(answer, 'output');
    const of = (type: string): unknown[] => items.filter((item) => at(item, 'type') === type);
    const spoken = of('message')
      .map((item) => textAt(item, 'content'))
      .join('');
    const deltas = events
      .filter((event) => at(event, 'type') === 'response.output_text.delta')
      .map((event) => textAt(event, 'delta'));
    return {
      thought: of('reasoning')
        .map((item) => textAt(item, 'summary') || textAt(item, 'content'))
        .join(''),
      text: stream ? deltas.join('') : spoken,
      calls: of('function_call').map((item) => ({
        id: textAt(item, 'call_id'),
        name: textAt(item, 'name'),
        args: argsOf(at(item, 'arguments')),
      })),
      prompt_tokens: Number(at(answer, 'usage', 'input_tokens')),
      completion_tokens: Number(at(answer, 'usage', 'output_tokens')),
      echo: items as object[],
    };
  },
};

const gemini: FormatClient = {
  path: (model, stream) =>
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  turns: 'contents',
  body: (_, { image, hasTools, mustCall, thinks }) => ({
    systemInstruction: { parts: [{ text: SYSTEM }] },
    contents: [
      {
        role: 'user',
        parts: [
          { text: TEXT },
          ...(image ? [{ inlineData: { mimeType: 'image/png', data: image } }] : []),
        ],
      },
    ],
    ...(hasTools && { tools: [{ functionDeclarations: [TOOL] }] }),
    ...(mustCall && { toolConfig: { functionCallingConfig: { mode: 'ANY' } } }),
    generationConfig: {
      maxOutputTokens: MAX_LENGTH,
      ...(thinks && { thinkingConfig: { includeThoughts: true, thinkingBudget: 2_048 } }),
    },
  }),
  results: (calls, result) => [
    {
      role: 'user',
      parts: calls.map(({ id, name }) => ({
        functionResponse: { id, name, response: { result } },
      })),
    },
  ],
  read: ({ text }, stream) => {
    const events = stream ? eventsIn(text) : [JSON.parse(text)];
    const parts = events.flatMap((event) => listAt(event, 'candidates', 0, 'content', 'parts'));
    const texts = (isThought: boolean): string =>
      parts
        .filter((part) => (at(part, 'thought') === true) === isThought)
        .map((part) => textAt(part, 'text'))
        .join('');
    const tokens = (name: string): number => Number(at(events.at(-1), 'usageMetadata', name) ?? 0);
    return {
      thought: texts(true),
      text: texts(false),
      calls: parts.flatMap((part) => {
        const call = at(part, 'functionCall') as (Call & { id?: string }) | undefined;
        return call ? [{ id: call.id ?? '', name: call.name, args: call.args }] : [];
      }),
      prompt_tokens: tokens('promptTokenCount'),
      completion_tokens: tokens('candidatesTokenCount') + tokens('thoughtsTokenCount'),
      echo: [{ role: 'model', parts }],
    };
  },
};

/** A client of each format that chat is served in. */
export const FORMAT_CLIENTS: Readonly<Record<string, FormatClient>> = {
  'chat completions': chatCompletions,
  Messages: messages,
  Responses: responses,
  Gemini: gemini,
};
