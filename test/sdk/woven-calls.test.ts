import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { eventFrame } from '../helpers/aws-frames.js';
import { sse, type Step } from '../helpers/upstream.js';
import { dataOf, onlyCharge, scriptedGateways } from '../money/helpers/scripted-gateway.js';

const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
};
const NAMES = ['look', 'look_up', 'rain'];

/** What every client must see. */
interface Seen {
  text: string;
  calls: { id: string | undefined; name: string | undefined; args: unknown }[];
  ended: string | null | undefined;
}

const CALLS: Seen['calls'] = [
  { id: 'call_a', name: 'look', args: { city: 'Oslo {"' } },
  { id: 'call_b', name: 'rain', args: { days: 2 } },
];
const [A, B] = [JSON.stringify(CALLS[0]?.args), JSON.stringify(CALLS[1]?.args)];
const [A1, A2, B1, B2] = [A.slice(0, 9), A.slice(9), B.slice(0, 5), B.slice(5)];

type Client = 'chat' | 'responses' | 'messages' | 'gemini';

/** The word for an answer that ends with calls. */
const ENDS: Record<Client, string> = {
  chat: 'tool_calls',
  responses: 'completed',
  messages: 'tool_use',
  gemini: 'STOP',
};

/** Streams an answer with the real client library of a format. */
const ASK: Record<Client, (url: string, apiKey: string) => Promise<Seen>> = {
  chat: async (url, apiKey) => {
    const client = new OpenAI({ baseURL: `${url}/openai/v1`, apiKey, maxRetries: 0 });
    const tools = NAMES.map((name) => ({
      type: 'function' as const,
      function: { name, parameters },
    }));
    const messages = [{ role: 'user' as const, content: 'Look.' }];
    const stream = client.chat.completions.stream({ model: 'm', messages, tools });
    const [choice] = (await stream.finalChatCompletion()).choices;
    const calls = (choice?.message.tool_calls ?? []).map((call) => {
      if (call.type !== 'function') throw new Error('A custom call.');
      const { name, arguments: args } = call.function;
      return { id: call.id, name, args: JSON.parse(args) as unknown };
    });
    return { text: choice?.message.content ?? '', calls, ended: choice?.finish_reason };
  },
  responses: async (url, apiKey) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
    const tools = NAMES.map((name) => {
      return { type: 'function' as const, name, parameters, strict: false };
    });
    const open = new Map<number, string>();
    const stream = client.responses.stream({ model: 'm', input: 'Look.', tools });
    stream.on('event', (event) => {
      if (event.type === 'response.output_item.added') open.set(event.output_index, '');
      if (event.type === 'response.function_call_arguments.delta') {
        open.set(event.output_index, (open.get(event.output_index) ?? '') + event.delta);
      }
    });
    const { output, output_text: text, status } = await stream.finalResponse();
    const calls = output.flatMap((item, index) => {
      if (item.type !== 'function_call') return [];
      expect(open.get(index), 'all deltas of a call').to.equal(item.arguments);
      return [{ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) as unknown }];
    });
    return { text, calls, ended: status };
  },
  messages: async (url, apiKey) => {
    const client = new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });
    const tools = NAMES.map((name) => ({ name, input_schema: parameters }));
    const messages = [{ role: 'user' as const, content: 'Look.' }];
    const stream = client.messages.stream({ model: 'm', max_tokens: 50, messages, tools });
    const { content, stop_reason, usage } = await stream.finalMessage();
    expect(usage).to.include({ input_tokens: 40, output_tokens: 30 });
    return {
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: content.flatMap((block) =>
        block.type === 'tool_use' ? [{ id: block.id, name: block.name, args: block.input }] : [],
      ),
      ended: stop_reason,
    };
  },
  gemini: async (url, apiKey) => {
    const options = { baseUrl: url, apiVersion: 'v1beta' };
    const client = new GoogleGenAI({ apiKey, httpOptions: options });
    const declared = NAMES.map((name) => ({ name, parametersJsonSchema: parameters }));
    const stream = await client.models.generateContentStream({
      model: 'm',
      contents: 'Look.',
      config: { tools: [{ functionDeclarations: declared }] },
    });
    const seen: Seen = { text: '', calls: [], ended: undefined };
    for await (const { candidates: [candidate] = [], functionCalls = [] } of stream) {
      for (const { text = '' } of candidate?.content?.parts ?? []) seen.text += text;
      for (const { id, name, args } of functionCalls) seen.calls.push({ id, name, args });
      seen.ended = candidate?.finishReason ?? seen.ended;
    }
    return seen;
  },
};

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const call = (index: number | undefined, args: string, name?: string, id?: string): object => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id, type: 'function' }),
  function: { ...(name !== undefined && { name }), arguments: args },
});
const calls = (...tool_calls: object[]): object => chunk({ tool_calls });
const END = [
  chunk({}, 'tool_calls'),
  { choices: [], usage: { prompt_tokens: 40, completion_tokens: 30 } },
  'data: [DONE]\n\n',
];
/** A stream of chat completions. */
const chat = (...events: (string | object)[]): Step => sse([...events, ...END]);

const event = (type: string, data: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const begun = (index: number, id: string, name: string): string =>
  event('content_block_start', { index, content_block: { type: 'tool_use', id, name, input: {} } });
const input = (index: number, partial_json: string): string =>
  event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } });

const item = (output_index: number, call_id: string, name: string, args: string, done: boolean) =>
  event(`response.output_item.${done ? 'done' : 'added'}`, {
    output_index,
    item: { type: 'function_call', id: `fc_${call_id}`, call_id, name, arguments: args },
  });
const argued = (output_index: number, delta: string): string =>
  event('response.function_call_arguments.delta', { output_index, delta });

const RUN = { type: 'custom_tool_call', id: 'ct_a', call_id: 'call_a', name: 'run', input: '' };
const custom = (output_index: number, type: string, data: object): string =>
  event(type, { output_index, ...data });

const toolUse = (contentBlockIndex: number, toolUseId: string, name: string): Buffer =>
  eventFrame('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name } } });
const used = (contentBlockIndex: number, piece: string): Buffer =>
  eventFrame('contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input: piece } } });

interface Case {
  step: Step;
  /** The manifest; `openai` by default. */
  uses?: string;
  model?: string;
  text?: string;
  /** The upstream gives IDs that the client does not see. */
  makes_ids?: true;
}

/** Streams with the same two calls. */
const CASES: Record<string, Case> = {
  'fragments of two calls that interleave': {
    step: chat(
      calls(call(0, '', 'look', 'call_a')),
      calls(call(1, '', 'rain', 'call_b')),
      calls(call(0, A1), call(1, B1)),
      calls(call(1, B2)),
      calls(call(0, A2)),
    ),
  },
  'text and reasoning between the fragments of a call': {
    text: 'Hm, so.',
    step: chat(
      calls(call(0, A1, 'look', 'call_a')),
      chunk({ content: 'Hm', reasoning_content: 'Well' }),
      calls(call(1, B1, 'rain', 'call_b')),
      chunk({ content: ', so.' }),
      calls(call(0, A2)),
      calls(call(1, B2)),
    ),
  },
  'names that come after the first arguments, the later one first': {
    step: chat(
      calls(call(0, A1, undefined, 'call_a')),
      calls(call(1, B1, 'rain', 'call_b')),
      calls(call(1, B2)),
      calls(call(0, '', 'look')),
      calls(call(0, A2)),
    ),
  },
  'names in two pieces': {
    step: chat(
      calls(call(0, '', 'lo', 'call_a')),
      calls(call(0, '', 'ok')),
      calls(call(1, '', 'ra', 'call_b')),
      calls(call(0, A1)),
      calls(call(1, B1, 'in')),
      calls(call(0, A2), call(1, B2)),
    ),
  },
  'IDs and names with every fragment': {
    step: chat(
      calls(call(0, '', 'look', 'call_a')),
      calls(call(0, A1, 'look', 'call_a')),
      calls(call(1, B1, 'rain', 'call_b')),
      calls(call(0, A2, 'look', 'call_a')),
      calls(call(1, B2, 'rain', 'call_b')),
      calls(call(0, '', 'look', 'call_a')),
    ),
  },
  'IDs that come late': {
    step: chat(
      calls(call(0, A1)),
      calls(call(0, '', 'look', 'call_a')),
      calls(call(1, '')),
      calls(call(0, A2)),
      calls(call(1, B, 'rain', 'call_b')),
    ),
  },
  'no index and no IDs': {
    makes_ids: true,
    step: chat(
      calls(call(undefined, A1, 'look')),
      calls(call(undefined, A2)),
      calls(call(undefined, B1, 'rain')),
      calls(call(undefined, B2)),
    ),
  },
  'a call that is never named beside them': {
    step: chat(
      calls(call(0, '{}', undefined, 'call_x')),
      calls(call(1, A, 'look', 'call_a')),
      calls(call(2, B, 'rain', 'call_b')),
    ),
  },
  'blocks of Claude that interleave': {
    uses: 'anthropic',
    model: 'claude-sonnet-4-5',
    text: 'Hm.',
    step: sse([
      event('message_start', { message: { id: 'msg_1', usage: { input_tokens: 40 } } }),
      begun(0, 'call_a', 'look'),
      input(0, A1),
      begun(1, 'call_b', 'rain'),
      event('content_block_start', { index: 2, content_block: { type: 'text', text: 'Hm.' } }),
      input(1, B1),
      input(0, A2),
      event('content_block_stop', { index: 0 }),
      input(1, B2),
      event('content_block_stop', { index: 1 }),
      event('content_block_stop', { index: 2 }),
      event('message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 30 } }),
      event('message_stop', {}),
    ]),
  },
  'blocks of Bedrock that interleave': {
    uses: 'bedrock',
    model: 'amazon.nova-pro-v1:0',
    step: {
      headers: { 'content-type': 'application/vnd.amazon.eventstream' },
      chunks: [
        toolUse(0, 'call_a', 'look'),
        toolUse(1, 'call_b', 'rain'),
        used(1, B1),
        used(0, A1),
        used(1, B2),
        eventFrame('contentBlockStop', { contentBlockIndex: 1 }),
        used(0, A2),
        eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
        eventFrame('messageStop', { stopReason: 'tool_use' }),
        eventFrame('metadata', { usage: { inputTokens: 40, outputTokens: 30 } }),
      ],
    },
  },
  'items of the Responses API that interleave, one named at its end': {
    model: 'gpt-5.3-codex',
    step: sse([
      event('response.created', { response: { status: 'in_progress' } }),
      item(0, 'call_a', '', '', false),
      item(1, 'call_b', 'rain', '', false),
      argued(1, B1),
      argued(0, A1),
      argued(1, B2),
      item(1, 'call_b', 'rain', B, true),
      argued(0, A2),
      item(0, 'call_a', 'look', A, true),
      event('response.completed', {
        response: { status: 'completed', usage: { input_tokens: 40, output_tokens: 30 } },
      }),
    ]),
  },
};

describe('tool calls that an upstream mixes', () => {
  const open = scriptedGateways();

  for (const [name, { step, uses = 'openai', model = 'm', text = '', makes_ids }] of Object.entries(
    CASES,
  )) {
    it(`reach each client one after another: ${name}`, async () => {
      const gateway = await open(step, {
        uses,
        upstreams: `{ provider: up, model: "${model}" }`,
        ...(uses === 'bedrock' && { provider: 'region: eu-central-1' }),
      });
      for (const client of Object.keys(ASK) as Client[]) {
        const seen = await ASK[client](gateway.url, gateway.secret);
        if (makes_ids) {
          const ids = seen.calls.map(({ id }) => id);
          expect(ids.every(Boolean) && new Set(ids).size, client).to.equal(2);
          for (const [at, one] of seen.calls.entries()) one.id = CALLS[at]?.id;
        }
        expect(seen, client).to.deep.equal({ text, calls: CALLS, ended: ENDS[client] });
      }
      const usages = (await gateway.charges()).map(({ usage }) => usage);
      const usage = JSON.stringify({ prompt_tokens: 40, completion_tokens: 30 });
      expect(usages).to.deep.equal(Object.keys(ASK).map(() => usage));
    });
  }

  const customs: Record<string, Case> = {
    'as functions of chat completions': {
      step: chat(
        calls(call(0, '{"input":"l', 'run', 'call_a')),
        calls(call(1, B1, 'rain', 'call_b')),
        calls(call(0, 's"}')),
        calls(call(1, B2)),
      ),
    },
    'as their own items of the Responses API': {
      model: 'gpt-5.3-codex',
      step: sse([
        custom(0, 'response.output_item.added', { item: RUN }),
        item(1, 'call_b', 'rain', '', false),
        custom(0, 'response.custom_tool_call_input.delta', { delta: 'l' }),
        argued(1, B),
        item(1, 'call_b', 'rain', B, true),
        custom(0, 'response.custom_tool_call_input.delta', { delta: 's' }),
        custom(0, 'response.output_item.done', { item: { ...RUN, input: 'ls' } }),
        event('response.completed', {
          response: { status: 'completed', usage: { input_tokens: 40, output_tokens: 30 } },
        }),
      ]),
    },
  };
  for (const [name, { step, model = 'm' }] of Object.entries(customs)) {
    it(`are custom tools of a Responses client, ${name}`, async () => {
      const gateway = await open(step, { upstreams: `{ provider: up, model: "${model}" }` });
      const baseURL = `${gateway.url}/v1`;
      const client = new OpenAI({ baseURL, apiKey: gateway.secret, maxRetries: 0 });
      const stream = client.responses.stream({
        model: 'm',
        input: 'Look.',
        tools: [
          { type: 'custom', name: 'run' },
          { type: 'function', name: 'rain', parameters, strict: false },
        ],
      });
      const { output } = await stream.finalResponse();
      const shown = output.map((one) => {
        if (one.type === 'custom_tool_call') return [one.call_id, one.name, one.input];
        return one.type === 'function_call' && [one.call_id, one.name, one.arguments];
      });
      expect(shown).to.deep.equal([
        ['call_a', 'run', 'ls'],
        ['call_b', 'rain', B],
      ]);
      await onlyCharge(gateway);
    });
  }

  it('stays as it is for a client of chat completions', async () => {
    const gateway = await open(CASES['fragments of two calls that interleave']?.step ?? {});
    const response = await gateway.post({
      model: 'm',
      messages: [{ role: 'user', content: 'Look.' }],
      stream: true,
    });
    const fragments = dataOf(await response.text()).flatMap((data) => {
      if (data === '[DONE]') return [];
      const { choices } = JSON.parse(data) as {
        choices: { delta: { tool_calls?: { index: number }[] } }[];
      };
      return choices.flatMap(({ delta }) => delta.tool_calls?.map(({ index }) => index) ?? []);
    });
    expect(fragments).to.deep.equal([0, 1, 0, 1, 1, 0]);
    await onlyCharge(gateway);
  });
});
