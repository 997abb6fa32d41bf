import { expect } from 'chai';
import { eventFrame } from '../helpers/aws-frames.js';
import { ask } from '../helpers/ask.js';
import { chatJson, sse, type Step } from '../helpers/upstream.js';
import { onEachStore } from '../store/helpers/ground.js';
import { onlyCharge, scriptedGateways, type ScriptedGateway } from './helpers/scripted-gateway.js';

type Json = Record<string, unknown>;

/** In nano-dollars: 1,000 a token in and 10,000 out, ten cents a search, twice as much at priority. */
const PRICE = `{
  input_per_million: 1, output_per_million: 10,
  tiers: { priority: { input_per_million: 2, output_per_million: 20 } },
  per_tool_call: { web_search: 0.1, browser_search: 0.1, google_search: 0.1, nova_grounding: 0.1 } }`.replaceAll(
  '\n',
  '',
);
const TOKENS_NANO = 40n * 1_000n + 10n * 10_000n;
const SEARCH_NANO = 100_000_000n;

const HELLO = [{ role: 'user', content: 'What is new?' }];
const SEARCH = { type: 'web_search_20250305', name: 'web_search', allowed_domains: ['a.example'] };
const PAGE = 'https://a.example/';

/** Claude's own blocks of a search. */
const USE = {
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'web_search',
  input: { query: 'new' },
};
const FOUND = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [
    { type: 'web_search_result', url: PAGE, title: 'A', encrypted_content: 'x', page_age: null },
  ],
};
const CITATION = { type: 'web_search_result_location', url: PAGE, title: 'A', cited_text: 'It' };
const CLAUDE_USAGE = {
  input_tokens: 40,
  output_tokens: 10,
  service_tier: 'standard',
  server_tool_use: { web_search_requests: 2 },
};

function claude(stream: boolean): Step {
  const texts = [
    { type: 'text', text: 'I look. ' },
    { type: 'text', text: 'It is.', citations: [CITATION] },
  ];
  const content = [texts[0], USE, FOUND, texts[1]];
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude' };
  if (!stream) return json({ ...head, content, stop_reason: 'end_turn', usage: CLAUDE_USAGE });
  const block = (index: number, start: object, ...deltas: object[]): object[] => [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  const text = { type: 'text', text: '' };
  return events([
    { type: 'message_start', message: { ...head, content: [], usage: CLAUDE_USAGE } },
    ...block(0, text, { type: 'text_delta', text: 'I look. ' }),
    ...block(
      1,
      { ...USE, input: {} },
      { type: 'input_json_delta', partial_json: '{"query":' },
      { type: 'input_json_delta', partial_json: '"new"}' },
    ),
    ...block(2, FOUND),
    ...block(
      3,
      text,
      { type: 'citations_delta', citation: CITATION },
      { type: 'text_delta', text: 'It is.' },
    ),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: CLAUDE_USAGE },
    { type: 'message_stop' },
  ]);
}

/** The same by OpenAI's Responses API. */
const ITEM = {
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  action: { type: 'search', query: 'new', sources: [{ type: 'url', url: PAGE }] },
};
const SOURCE = { type: 'url_citation', url: PAGE, title: 'A', start_index: 0, end_index: 6 };

function responses(stream: boolean): Step {
  const message = {
    type: 'message',
    id: 'msg_1',
    content: [{ type: 'output_text', text: 'It is.', annotations: [SOURCE] }],
  };
  const output = [ITEM, { ...ITEM, id: 'ws_2' }, message];
  const usage = { input_tokens: 40, output_tokens: 10 };
  const response = { status: 'completed', service_tier: 'default', output, usage };
  if (!stream) return json(response);
  return events([
    { type: 'response.created', response: { ...response, output: [], usage: null } },
    ...output.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item: { ...item, content: [] } },
      ...(item === message
        ? [{ type: 'response.output_text.delta', output_index, delta: 'It is.' }]
        : []),
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response },
  ]);
}

function groq(stream: boolean): Step {
  const executed_tools = [0, 1].map((index) => ({ index, type: 'browser_search' }));
  const usage = { prompt_tokens: 40, completion_tokens: 10 };
  const message = { role: 'assistant', content: 'It is.', executed_tools };
  if (!stream) {
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return chatJson('', { choices, usage, service_tier: 'on_demand' });
  }
  return sse([
    { choices: [{ index: 0, delta: message }], service_tier: 'on_demand' },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], x_groq: { usage } },
    'data: [DONE]\n\n',
  ]);
}

function gemini(stream: boolean): Step {
  const answer = {
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [{ text: 'It is.' }] },
        finishReason: 'STOP',
        groundingMetadata: { webSearchQueries: ['new', 'newer'] },
      },
    ],
    usageMetadata: { promptTokenCount: 40, candidatesTokenCount: 10, serviceTier: 'standard' },
  };
  return stream ? events([answer]) : json(answer);
}

function nova(stream: boolean): Step {
  const toolUse = { type: 'server_tool_use', toolUseId: 't', name: 'nova_grounding' };
  const usage = { inputTokens: 40, outputTokens: 10 };
  const last = { usage, serviceTier: { type: 'default' } };
  const content = [{ toolUse }, { toolUse: { ...toolUse, toolUseId: 'u' } }, { text: 'It is.' }];
  if (!stream) return json({ output: { message: { content } }, stopReason: 'end_turn', ...last });
  const start = (contentBlockIndex: number) =>
    eventFrame('contentBlockStart', { contentBlockIndex, start: { toolUse } });
  return {
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    chunks: [
      start(0),
      start(1),
      eventFrame('contentBlockDelta', { contentBlockIndex: 2, delta: { text: 'It is.' } }),
      eventFrame('messageStop', { stopReason: 'end_turn' }),
      eventFrame('metadata', last),
    ],
  };
}

function json(body: object): Step {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

function events(list: readonly object[]): Step {
  return {
    headers: { 'content-type': 'text/event-stream' },
    chunks: list.map((event) => `data: ${JSON.stringify(event)}\n\n`),
  };
}

/** A wire whose upstream runs a tool twice, and a client that offers it. */
interface Wire {
  name: string;
  uses: string;
  model: string;
  provider?: string;
  step: (stream: boolean) => Step;
  path: string;
  /** The body of a request; `contents` of Gemini has neither model nor stream. */
  body: Json;
  /** What the upstream gets of it. */
  sent: Json;
  /** By what the ledger counts it. */
  tool: string;
  tier: string;
  /** What the client must see, whole and streamed. */
  shows: readonly string[];
}

const MESSAGES = {
  path: '/v1/messages',
  body: { messages: HELLO, max_tokens: 90, tools: [SEARCH] },
};
const RESPONSES = {
  path: '/v1/responses',
  body: { input: 'What is new?', tools: [{ type: 'web_search' }] },
};
const ANTHROPIC = { uses: 'anthropic', model: 'claude-sonnet-4-5', step: claude, tier: 'standard' };
const OPENAI = { uses: 'openai', model: 'gpt-4.1', step: responses, tier: 'default' };
const BY_RESPONSES = {
  max_tool_calls: 3,
  include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
};

const WIRES: readonly Wire[] = [
  {
    ...ANTHROPIC,
    ...MESSAGES,
    name: 'Claude, for a client of its own API',
    sent: { tools: [{ ...SEARCH, max_uses: 3 }] },
    tool: 'web_search',
    shows: [
      'server_tool_use',
      'srvtoolu_1',
      'web_search_tool_result',
      '"encrypted_content":"x"',
      '"web_search_requests":2',
    ],
  },
  {
    ...ANTHROPIC,
    ...RESPONSES,
    name: 'Claude, for a client of the Responses API',
    sent: { tools: [{ type: SEARCH.type, name: 'web_search', max_uses: 3 }] },
    tool: 'web_search',
    shows: ['web_search_call', '"query":"new"', 'url_citation'],
  },
  {
    ...OPENAI,
    ...RESPONSES,
    name: 'OpenAI, for a client of its newer API',
    sent: { ...BY_RESPONSES, tools: [{ type: 'web_search' }] },
    tool: 'web_search',
    shows: ['web_search_call', 'ws_2', 'url_citation'],
  },
  {
    ...OPENAI,
    ...MESSAGES,
    name: 'OpenAI, for a client of the Messages API',
    sent: {
      ...BY_RESPONSES,
      tools: [{ type: 'web_search', filters: { allowed_domains: ['a.example'] } }],
    },
    tool: 'web_search',
    shows: ['server_tool_use', 'web_search_tool_result', PAGE, '"web_search_requests":2'],
  },
  {
    ...OPENAI,
    name: 'OpenAI, for a client of chat completions',
    path: '/openai/v1/chat/completions',
    body: { messages: HELLO, tools: [{ type: 'web_search_preview' }], max_tool_calls: 2 },
    sent: { tools: [{ type: 'web_search_preview' }], max_tool_calls: 2 },
    tool: 'web_search',
    shows: ['"annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example/"'],
  },
  {
    name: 'Groq',
    uses: 'groq',
    model: 'openai/gpt-oss-20b',
    step: groq,
    path: '/v1/chat/completions',
    body: { messages: HELLO, tools: [{ type: 'browser_search' }] },
    sent: { tools: [{ type: 'browser_search' }] },
    tool: 'browser_search',
    tier: 'on_demand',
    shows: ['It is.'],
  },
  {
    name: 'Gemini',
    uses: 'gemini',
    model: 'gemini-3-flash',
    step: gemini,
    path: '/v1beta/models/m:generateContent',
    body: {
      contents: [{ role: 'user', parts: [{ text: 'What is new?' }] }],
      tools: [{ googleSearch: {} }],
    },
    sent: { tools: [{ googleSearch: {} }] },
    tool: 'google_search',
    tier: 'standard',
    shows: ['It is.'],
  },
  {
    name: 'Bedrock',
    uses: 'bedrock',
    provider: 'region: us-east-1',
    model: 'amazon.nova-2-lite-v1:0',
    step: nova,
    path: '/v1/chat/completions',
    body: {
      messages: HELLO,
      tools: [{ type: 'nova_grounding', systemTool: { name: 'nova_grounding' } }],
    },
    sent: { toolConfig: { tools: [{ systemTool: { name: 'nova_grounding' } }] } },
    tool: 'nova_grounding',
    tier: 'default',
    shows: ['It is.'],
  },
];

onEachStore('a tool that the upstream runs and that has a price', (ground) => {
  const startGateway = scriptedGateways();

  function open(
    step: Step,
    { uses, model, provider = '' }: Pick<Wire, 'uses' | 'model' | 'provider'>,
  ) {
    return startGateway(step, {
      uses,
      provider,
      store: ground.place.url,
      upstreams: `{ provider: up, model: "${model}" }`,
      price: PRICE,
      model: 'passthrough: [reasoning_effort]',
      limits: 'tool_calls: 3',
    });
  }

  const post = (gateway: ScriptedGateway, path: string, body: object) =>
    ask(gateway, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  for (const wire of WIRES) {
    for (const stream of [false, true]) {
      it(`is passed on, bounded, billed and shown: ${wire.name}${stream ? ', streamed' : ''}`, async () => {
        const { path, body, sent, tool, tier, shows } = wire;
        const gateway = await open(wire.step(stream), wire);
        const isGemini = path.startsWith('/v1beta');
        const at = isGemini && stream ? path.replace(':gen', ':streamGen') : path;
        const answer = await post(gateway, at, isGemini ? body : { model: 'm', stream, ...body });
        expect(answer.status, answer.text).to.equal(200);
        expect(answer.headers.get('tollgate-ignored')).to.equal(null);
        expect(gateway.upstream.requests.at(-1)?.json).to.deep.include(sent);
        for (const text of shows) expect(answer.text).to.include(text);
        const charge = await onlyCharge(gateway);
        expect(-charge.amount_nano).to.equal(TOKENS_NANO + 2n * SEARCH_NANO);
        expect(JSON.parse(charge.usage ?? '')).to.deep.equal({
          prompt_tokens: 40,
          completion_tokens: 10,
          service_tier: tier,
          tool_calls: { [tool]: 2 },
        });
      });
    }
  }

  it('shows the blocks of Claude in their order, whole', async () => {
    const gateway = await open(claude(false), ANTHROPIC);
    const { text } = await post(gateway, MESSAGES.path, { model: 'm', ...MESSAGES.body });
    const { content } = JSON.parse(text) as { content: object[] };
    expect(content).to.deep.equal([
      { type: 'text', text: 'I look. ' },
      USE,
      FOUND,
      { type: 'text', text: 'It is.' },
    ]);
  });

  it('is left out and named where only another upstream has a price for it', async () => {
    const gateway = await startGateway(
      { up: json({}), other: claude(false) },
      {
        uses: 'anthropic',
        store: ground.place.url,
        upstreams: `{ provider: other }, { provider: up, price: ${PRICE} }`,
        price: '{ input_per_million: 1, output_per_million: 10 }',
      },
    );
    const answer = await post(gateway, MESSAGES.path, { model: 'm', ...MESSAGES.body });
    expect(answer.headers.get('tollgate-ignored')).to.equal('tools[].web_search_20250305');
    expect(gateway.upstreams.other?.requests.at(-1)?.json).not.to.have.property('tools');
    await gateway.settled();
  });

  it('goes on to an upstream with a price where the client demands it', async () => {
    const gateway = await startGateway(
      { other: json({}), up: claude(false) },
      {
        uses: 'anthropic',
        store: ground.place.url,
        upstreams: `{ provider: other }, { provider: up, price: ${PRICE} }`,
        price: '{ input_per_million: 1, output_per_million: 10 }',
      },
    );
    const tool_choice = { type: 'tool', name: 'web_search' };
    const answer = await post(gateway, MESSAGES.path, {
      model: 'm',
      ...MESSAGES.body,
      tool_choice,
    });
    expect(answer.status, answer.text).to.equal(200);
    expect(gateway.upstreams.other?.requests).to.have.length(0);
    expect(gateway.upstream.requests).to.have.length(0);
    expect(gateway.upstreams.up?.requests.at(-1)?.json).to.deep.include({ tool_choice });
    await gateway.settled();
  });
});

onEachStore('a service tier of a request', (ground) => {
  const startGateway = scriptedGateways();
  const usage = { prompt_tokens: 40, completion_tokens: 10 };

  interface Tier {
    uses: string;
    model: string;
    provider?: string;
    step: Step;
    asked: string;
    /** What the upstream gets of it, in its body or its headers. */
    sent: Json;
    cost: bigint;
  }

  const TIERS: readonly Tier[] = [
    {
      uses: 'openai',
      model: 'gpt-4.1',
      step: chatJson('Hi', { usage, service_tier: 'priority' }),
      asked: 'priority',
      sent: { service_tier: 'priority' },
      cost: 2n * TOKENS_NANO,
    },
    {
      uses: 'openai',
      model: 'gpt-4.1',
      step: chatJson('Hi', { usage, service_tier: 'default' }),
      asked: 'standard_only',
      sent: { service_tier: 'default' },
      cost: TOKENS_NANO,
    },
    {
      uses: 'anthropic',
      model: 'claude-sonnet-4-5',
      step: claude(false),
      asked: 'standard_only',
      sent: { service_tier: 'standard_only' },
      cost: TOKENS_NANO + 2n * SEARCH_NANO,
    },
    {
      uses: 'gemini',
      model: 'gemini-3-flash',
      step: gemini(false),
      asked: 'priority',
      sent: { serviceTier: 'priority' },
      cost: TOKENS_NANO + 2n * SEARCH_NANO,
    },
    {
      uses: 'bedrock',
      provider: 'region: us-east-1',
      model: 'amazon.nova-2-lite-v1:0',
      step: nova(false),
      asked: 'priority',
      sent: { serviceTier: { type: 'priority' } },
      cost: TOKENS_NANO + 2n * SEARCH_NANO,
    },
  ];

  for (const { uses, model, provider = '', step, asked, sent, cost } of TIERS) {
    it(`goes to ${uses} (${asked}), and the tier that answered is billed`, async () => {
      const gateway = await startGateway(step, {
        uses,
        provider,
        store: ground.place.url,
        upstreams: `{ provider: up, model: "${model}" }`,
        price: PRICE,
      });
      const answer = await gateway.post({ model: 'm', messages: HELLO, service_tier: asked });
      expect(answer.headers.get('tollgate-ignored')).to.equal(null);
      await answer.text();
      expect(gateway.upstream.requests.at(-1)?.json).to.deep.include(sent);
      expect(-(await onlyCharge(gateway)).amount_nano).to.equal(cost);
    });
  }

  for (const asked of ['flex', 7, { a: 1 }]) {
    it(`is left out and named where it has no price: ${JSON.stringify(asked)}`, async () => {
      const step = chatJson('Hi', { usage });
      const gateway = await startGateway(step, { store: ground.place.url, price: PRICE });
      const answer = await gateway.post({ model: 'm', messages: HELLO, service_tier: asked });
      expect(answer.headers.get('tollgate-ignored')).to.equal('service_tier');
      expect(gateway.upstream.requests.at(-1)?.json).not.to.have.property('service_tier');
      await gateway.settled();
    });
  }
});
