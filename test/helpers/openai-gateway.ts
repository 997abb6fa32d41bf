import type { ServerResponse } from 'node:http';
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway.js';
import {
  chatJson,
  chatSse,
  play,
  sse,
  startUpstream,
  type FakeUpstream,
  type Received,
  type Step,
} from './upstream.js';

export interface OpenaiGateway extends TestGateway {
  upstream: FakeUpstream;
  /** The secret of a key whose account has no credit. */
  poor: string;
  /** The body of the last request that the upstream received. */
  sent(): Record<string, unknown>;
}

/** What one chat request asks of the upstream, as far as its answer depends on it. */
interface Asked {
  model: string;
  stream: boolean;
  tools?: unknown[];
  messages: { role: string }[];
}

const WORDS = ['Good', ' day', ', 🌍', '!'];

/** Models of every kind that the tests need; `models` of a test's own are added to them. */
const MODELS = `
  acme-chat: { owner: acme, capabilities: [chat], upstreams: [{ provider: acme }], price: &paid { input_per_million: 1, output_per_million: 2 } }
  acme-all: { owner: acme, capabilities: [chat, vision, audio, tools], upstreams: [{ provider: acme }], price: *paid }
  acme-free: { owner: acme, capabilities: [chat], upstreams: [{ provider: acme }], price: free }
  acme-broken: { owner: acme, capabilities: [chat], upstreams: [{ provider: acme, model: broken }], price: *paid }
  acme-cut: { owner: acme, capabilities: [chat], upstreams: [{ provider: acme, model: cut }], price: *paid }
`;

/** A gateway with an upstream that speaks the OpenAI wire, streamed or not, with tools or not. */
export async function startOpenaiGateway(
  { models = '', yaml = '' }: { models?: string; yaml?: string } = {},
  options: TestGatewayOptions = {},
): Promise<OpenaiGateway> {
  const upstream = await startUpstream(answerAsAcme);
  const gateway = await startGateway(
    `owners: { acme: { name: OpenaiGateway }, google: { name: Google } }
providers: { acme: { uses: openai, base_url: '${upstream.url}', api_key: sk-acme-secret } }
models:${MODELS}${models}
${yaml}`,
    options,
  ).catch(async (error: unknown) => {
    await upstream.close();
    throw error;
  });
  const { store } = gateway.gateway;
  const { secret: poor } = await store.createKey((await store.createAccount('poor', 0n)).id, 'k');
  return {
    ...gateway,
    upstream,
    poor,
    sent: () => upstream.requests.at(-1)?.json as Record<string, unknown>,
    close: async () => {
      await gateway.close();
      await upstream.close();
    },
  };
}

async function answerAsAcme({ json }: Received, response: ServerResponse): Promise<void> {
  await play(stepFor(json as Asked), response);
}

function stepFor({ model, stream, tools, messages }: Asked): Step {
  if (model === 'broken') {
    return { status: 500, headers: { 'retry-after': '7' }, body: 'Segmentation fault at sk-acme' };
  }
  const step = stream ? chatSse(WORDS) : chatJson(WORDS.join(''));
  if (model === 'classes') return classesStep(stream);
  if (model === 'cut') return { ...step, destroyAfter: stream ? 3 : 0 };
  return tools && messages.at(-1)?.role === 'user' ? toolStep(stream) : step;
}

/** An answer whose usage names every class of tokens, and what no client is shown. */
function classesStep(stream: boolean): Step {
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 5,
    prompt_tokens_details: {
      cached_tokens: 4,
      cache_write_tokens: 2,
      audio_tokens: 1,
      text_tokens: 8,
    },
    completion_tokens_details: { reasoning_tokens: 3, audio_tokens: 0 },
    cost: 0.01,
  };
  if (!stream) return chatJson('Good day', { usage });
  return sse([
    { choices: [{ index: 0, delta: { content: 'Good day' }, finish_reason: 'stop' }] },
    { choices: [], usage },
    'data: [DONE]\n\n',
  ]);
}

function toolStep(stream: boolean): Step {
  const name = 'weather';
  const usage = { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 };
  const call = { id: 'call_1', type: 'function', function: { name, arguments: '{"city":"Oslo"}' } };
  if (!stream) {
    const message = { role: 'assistant', content: null, tool_calls: [call] };
    return chatJson('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage });
  }
  const chunk = (delta: object, finish_reason: string | null = null): object => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  const piece = (text: string): object => ({ index: 0, function: { arguments: text } });
  return sse([
    chunk({ role: 'assistant', content: null }),
    chunk({ tool_calls: [{ ...call, index: 0, function: { name, arguments: '' } }] }),
    chunk({ tool_calls: [piece('{"city":')] }),
    chunk({ tool_calls: [piece('"Oslo"}')] }),
    chunk({}, 'tool_calls'),
    { choices: [], usage },
    'data: [DONE]\n\n',
  ]);
}
