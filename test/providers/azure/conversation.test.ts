import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { chat } from '../../helpers/ask.js';
import { saidIn, talk, type Said } from '../../helpers/conversation.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import {
  chatJson,
  play,
  sse,
  startUpstream,
  type FakeUpstream,
  type Received,
  type Step,
} from '../../helpers/upstream.js';

interface Message {
  role: string;
  content: string | null;
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

interface Body {
  model: string;
  messages: Message[];
  stream?: boolean;
}

const DEPLOYMENT = 'gpt-5-mini';
const DATED = `/openai/deployments/${DEPLOYMENT}/chat/completions?api-version=2025-01-01-preview`;
const V1 = '/openai/v1/chat/completions';

const tools = ['weather', 'clock'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}));
const RESULTS: Record<string, string> = { weather: '−3 °C ❄', clock: '12:00' };

const SAFE = { hate: { filtered: false, severity: 'safe' } };
const USAGE = {
  prompt_tokens: 40,
  completion_tokens: 30,
  total_tokens: 70,
  completion_tokens_details: { reasoning_tokens: 20 },
};

/** The turns of the deployment: two calls at once, what their results say, a word for the thanks. */
const TURNS: Omit<Message, 'role'>[] = [
  {
    content: null,
    tool_calls: ['weather', 'clock'].map((name) => ({
      id: `call_${name}`,
      type: 'function',
      function: { name, arguments: '{"city":"Oslo"}' },
    })),
  },
  { content: 'Cold, at noon.' },
  { content: 'You are welcome.' },
];

/** All that a message may hold; anything else would be another provider's state. */
const KNOWN: Record<string, readonly string[]> = {
  user: ['role', 'content'],
  assistant: ['role', 'content', 'tool_calls'],
  tool: ['role', 'content', 'tool_call_id'],
};

/** What Azure would refuse in a call to a deployment that reasons. */
function faultOf({ path, headers, json }: Received): string | undefined {
  const { model, messages, ...rest } = json as Body & Record<string, unknown>;
  if (headers['api-key'] === undefined) return 'Access denied due to missing subscription key.';
  if (path !== DATED && path !== V1) return 'Resource not found';
  if (path === V1 && model !== DEPLOYMENT) return 'The deployment does not exist.';
  if ('max_tokens' in rest) return "Unsupported parameter: 'max_tokens'.";
  if (rest.reasoning_effort !== 'low') return 'The effort was lost.';
  for (const [at, message] of messages.entries()) {
    const odd = Object.keys(message).find((name) => !KNOWN[message.role]?.includes(name));
    if (odd) return `Unrecognized request argument supplied: messages[${at}].${odd}`;
    const ids = (message.tool_calls ?? []).map(({ id }) => id);
    const results = messages.slice(at + 1, at + 1 + ids.length);
    if (ids.join() !== results.map(({ tool_call_id }) => tool_call_id).join()) {
      return "An assistant message with 'tool_calls' must be followed by tool messages.";
    }
  }
  const history = messages.filter(({ role }) => role === 'assistant').map(said);
  const isWhole = JSON.stringify(history) === JSON.stringify(TURNS.slice(0, history.length));
  return isWhole ? undefined : 'The history is not what was said.';
}

function said({ content, tool_calls }: Message): Omit<Message, 'role'> {
  return { content, ...(tool_calls && { tool_calls }) };
}

async function answer(received: Received, response: ServerResponse): Promise<void> {
  const message = faultOf(received);
  if (message !== undefined) {
    const headers = { 'content-type': 'application/json' };
    const error = { message, type: 'invalid_request_error', param: null, code: null };
    return play({ status: 400, headers, body: JSON.stringify({ error }) }, response);
  }
  const { messages, stream } = received.json as Body;
  const turn = TURNS[messages.filter(({ role }) => role === 'assistant').length] ?? TURNS[2];
  const finish_reason = turn?.tool_calls ? 'tool_calls' : 'stop';
  return play(stream ? streamed(turn ?? {}, finish_reason) : whole(turn, finish_reason), response);
}

function whole(turn: object | undefined, finish_reason: string): Step {
  const message = { role: 'assistant', refusal: null, ...turn };
  return chatJson('', {
    choices: [{ index: 0, message, finish_reason, content_filter_results: SAFE }],
    prompt_filter_results: [{ prompt_index: 0, content_filter_results: SAFE }],
    usage: USAGE,
  });
}

/** A stream as Azure sends it, with what its filters say, and the arguments of calls in pieces. */
function streamed({ content, tool_calls = [] }: Partial<Message>, finish_reason: string): Step {
  const chunk = (delta: object, more: object = {}): object => ({
    id: 'chatcmpl-azure',
    choices: [{ index: 0, delta, finish_reason: null, content_filter_results: SAFE, ...more }],
    usage: null,
  });
  const calls = tool_calls.flatMap(({ function: called, ...call }, index) => [
    { index, ...call, function: { name: called.name, arguments: '' } },
    { index, function: { arguments: called.arguments.slice(0, 5) } },
    { index, function: { arguments: called.arguments.slice(5) } },
  ]);
  return sse([
    { id: '', model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
    chunk({ role: 'assistant', content: content ?? null }),
    ...calls.map((call) => chunk({ tool_calls: [call] })),
    chunk({}, { finish_reason }),
    { id: 'chatcmpl-azure', choices: [], usage: USAGE },
    'data: [DONE]\n\n',
  ]);
}

describe('a conversation of three turns with a deployment of Azure that reasons', () => {
  let azure: FakeUpstream;
  let gateway: TestGateway;

  before(async () => {
    azure = await startUpstream(answer);
    const model = (provider: string): string => `
    owner: acme
    capabilities: [chat, tools]
    upstreams: [{ provider: ${provider}, model: ${DEPLOYMENT} }]
    price: { input_per_million: 1, output_per_million: 10 }`;
    gateway = await startGateway(`owners: { acme: { name: Acme } }
providers:
  v1: { uses: azure, base_url: '${azure.url}/openai/v1', api_key: azure-key-0123456789 }
  dated:
    uses: azure-deployments
    base_url: '${azure.url}/openai'
    api_version: 2025-01-01-preview
    api_key: azure-key-0123456789
models:
  v1:${model('v1')}
  dated:${model('dated')}
`);
  });
  after(async () => {
    await gateway.close();
    await azure.close();
  });

  /** Asks, has both tools run, hears the answer, and thanks. */
  async function converse(model: string, stream: boolean): Promise<Said[]> {
    const body = { model, stream, tools, reasoning_effort: 'low', max_tokens: 900 };
    const messages: object[] = [{ role: 'user', content: 'How is Oslo, and how late?' }];
    const turns = await talk(gateway, body, messages, (call) => RESULTS[call.function.name] ?? '');
    messages.push({ role: 'user', content: 'Thank you.' });
    return [...turns, saidIn(await chat(gateway, { ...body, messages }))];
  }

  for (const [surface, path] of [
    ['v1', V1],
    ['dated', DATED],
  ] as const) {
    for (const stream of [false, true]) {
      const way = stream ? 'streamed' : 'whole';
      it(`loses no call and no result on the ${surface} surface, ${way}`, async () => {
        const from = azure.requests.length;
        const turns = await converse(surface, stream);
        expect(turns.map(({ content }) => content)).to.deep.equal(
          TURNS.map(({ content }) => content),
        );
        expect(turns[0]?.tool_calls).to.deep.equal(TURNS[0]?.tool_calls);
        const requests = azure.requests.slice(from);
        expect(requests.map((request) => request.path)).to.deep.equal([path, path, path]);
        const last = requests.at(-1)?.json as Body;
        const results = last.messages.filter(({ role }) => role === 'tool');
        expect(results.map(({ content }) => content)).to.deep.equal(['−3 °C ❄', '12:00']);
      });
    }
  }

  it('charges reasoning tokens as output, once in each turn', async () => {
    const entries = await gateway.gateway.store.ledger(gateway.account.id, { limit: 100 });
    const charges = entries.filter(({ kind }) => kind === 'charge');
    expect(charges).to.have.length(4 * 3);
    for (const { reasoning_tokens, amount_nano } of charges) {
      expect(reasoning_tokens).to.equal(20);
      expect(amount_nano).to.equal(-(40n * 1_000n + 30n * 10_000n));
    }
  });
});
