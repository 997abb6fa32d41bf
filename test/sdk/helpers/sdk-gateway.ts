import type { ServerResponse } from 'node:http';
import { embeddingsJson } from '../../modalities/embedding/helpers.js';
import { PNG } from '../../modalities/image/helpers/image-bytes.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import {
  chatJson,
  chatSse,
  play,
  sse,
  startUpstream,
  type FakeUpstream,
  type Received,
  type Step,
} from '../../helpers/upstream.js';

/** A gateway for client libraries, before an upstream that answers each kind of call. */
export interface SdkGateway extends TestGateway {
  upstream: FakeUpstream;
  /** The secret of a key whose account has no credit. */
  poor: string;
  /** The body of the last request that the upstream received. */
  sent(): Record<string, unknown>;
  /** What an act of a client was charged, call by call, in nano-dollars. */
  charged(act: () => PromiseLike<unknown>): Promise<bigint[]>;
}

export const TEXT = 'Good day, 🌍!';
/** What the upstream says where it must answer in JSON: an object that `SCHEMA` describes. */
export const OBJECT = { city: 'Oslo', rain: true };
export const SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const }, rain: { type: 'boolean' as const } },
  required: ['city', 'rain'],
  additionalProperties: false,
};

/** A chat call, and a tool for it, in OpenAI's words. */
export const CHAT_CALL = {
  model: 'acme-chat',
  messages: [{ role: 'user' as const, content: 'Hello!' }],
};
export const CHAT_TOOL = {
  type: 'function' as const,
  function: {
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
};

/** Numbers that keep their value in base64, where they have 32 bits. */
export const VECTOR = [0.5, 0.25];

/** Nano-dollars of each kind of answer, by the usage that the upstream reports. */
export const COST = {
  whole: 9_000n + 5n * 2_000n,
  streamed: 9_000n + 4n * 2_000n,
  tool: 20_000n + 7n * 2_000n,
  vector: 3_000n,
  image: 40_000_000n,
};

/** The calls that every client must hear a refusal of, and with which key they are made. */
export const REFUSALS = [
  { status: 401, model: 'acme-chat', key: () => 'tg-not-a-key', says: /API key/u },
  { status: 400, model: 'acme-chta', key: (acme: SdkGateway) => acme.secret, says: /acme-chta/u },
  { status: 402, model: 'acme-chat', key: (acme: SdkGateway) => acme.poor, says: /balance/u },
  { status: 502, model: 'acme-broken', key: (acme: SdkGateway) => acme.secret, says: /upstream/u },
];

/** The error that a call must end with. */
export async function errorOf(call: PromiseLike<unknown>): Promise<unknown> {
  const outcome = await Promise.resolve(call).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in outcome) return outcome.error;
  throw new Error(`There was an answer: ${JSON.stringify(outcome.value)}`);
}

const CHAT = '[chat, vision, audio, file, tools]';
const MODELS = `
  acme-chat: { owner: acme, capabilities: ${CHAT}, upstreams: [{ provider: acme }], price: &paid { input_per_million: 1, output_per_million: 2 } }
  acme-broken: { owner: acme, capabilities: ${CHAT}, upstreams: [{ provider: acme, model: broken }], price: *paid }
  acme-cut: { owner: acme, capabilities: ${CHAT}, upstreams: [{ provider: acme, model: cut }], price: *paid }
  acme-vectors: { owner: acme, capabilities: [embedding], upstreams: [{ provider: acme }], price: { input_per_million: 1 } }
  acme-painter: { owner: acme, capabilities: [image], upstreams: [{ provider: acme }], price: { per_image: 0.04 } }
`;

export async function startSdkGateway(): Promise<SdkGateway> {
  const upstream = await startUpstream(answer);
  const gateway = await startGateway(
    `owners: { acme: { name: Acme } }
providers: { acme: { uses: openai, base_url: '${upstream.url}', api_key: sk-acme } }
models:${MODELS}`,
  );
  const { store } = gateway.gateway;
  const { secret: poor } = await store.createKey((await store.createAccount('poor', 0n)).id, 'k');
  const charges = async (): Promise<bigint[]> => {
    const rows = await store.ledger(gateway.account.id, { limit: 1_000 });
    return rows.filter(({ kind }) => kind === 'charge').map(({ amount_nano }) => -amount_nano);
  };
  return {
    ...gateway,
    upstream,
    poor,
    sent: () => upstream.requests.at(-1)?.json as Record<string, unknown>,
    charged: async (act) => {
      const before = await charges();
      await act();
      return (await charges()).slice(before.length);
    },
    close: async () => {
      await gateway.close();
      await upstream.close();
    },
  };
}

interface Tool {
  function: { name: string; parameters?: { properties?: Record<string, unknown> } };
}

/** One request, as far as its answer depends on it. */
interface Asked {
  model: string;
  stream?: boolean;
  input?: string | unknown[];
  tools?: Tool[];
  tool_choice?: string | { function: { name: string } };
  response_format?: { type: string };
  messages: { role: string }[];
}

async function answer({ path, json }: Received, response: ServerResponse): Promise<void> {
  const asked = json as Asked;
  if (path.endsWith('/embeddings')) await play(vectors(asked), response);
  else if (path.endsWith('/images/generations')) await play(image(), response);
  else await play(talk(asked), response);
}

function vectors({ input = [] }: Asked): Step {
  const count = typeof input === 'string' ? 1 : input.length;
  return embeddingsJson(Array(count).fill(VECTOR), { prompt_tokens: 3, total_tokens: 3 });
}

function image(): Step {
  const body = JSON.stringify({ created: 1, data: [{ b64_json: PNG.toString('base64') }] });
  return { headers: { 'content-type': 'application/json' }, body };
}

/** A tool is called once; what must be JSON is `OBJECT`; all else is `TEXT`. */
function talk(asked: Asked): Step {
  const { model, stream, response_format, messages } = asked;
  if (model === 'broken') return { status: 500, body: 'Segmentation fault' };
  const tool = toolOf(asked);
  if (tool && messages.at(-1)?.role !== 'tool') return callOf(tool, stream === true);
  const isJson = response_format !== undefined && response_format.type !== 'text';
  const words = isJson
    ? ['{"city":', '"Oslo",', '"rain":', 'true}']
    : ['Good', ' day', ', 🌍', '!'];
  const step = stream ? chatSse(words) : chatJson(words.join(''));
  return model === 'cut' ? { ...step, destroyAfter: stream ? 3 : 0 } : step;
}

function toolOf({ tools = [], tool_choice }: Asked): Tool['function'] | undefined {
  const wanted = typeof tool_choice === 'object' ? tool_choice.function.name : undefined;
  const functions = tools.map((tool) => tool.function);
  return functions.find(({ name }) => name === wanted) ?? functions[0];
}

function callOf({ name, parameters }: Tool['function'], isStream: boolean): Step {
  const { city } = OBJECT;
  const text = JSON.stringify(parameters?.properties?.rain ? OBJECT : { city });
  const usage = { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 };
  const call = { id: 'call_1', type: 'function', function: { name, arguments: text } };
  if (!isStream) {
    const message = { role: 'assistant', content: null, tool_calls: [call] };
    return chatJson('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage });
  }
  const chunk = (delta: object, finish_reason: string | null = null): object => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  const piece = (said: string): object =>
    chunk({ tool_calls: [{ index: 0, function: { arguments: said } }] });
  return sse([
    chunk({ role: 'assistant', content: null }),
    chunk({ tool_calls: [{ ...call, index: 0, function: { name, arguments: '' } }] }),
    piece(text.slice(0, 8)),
    piece(text.slice(8)),
    chunk({}, 'tool_calls'),
    { choices: [], usage },
    'data: [DONE]\n\n',
  ]);
}
