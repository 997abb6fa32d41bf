import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import { ask } from '../helpers/ask.js';
import { chatJson, type Step } from '../helpers/upstream.js';
import {
  scriptedGateways,
  type Script,
  type ScriptedGateway,
  type ScriptedGatewayOptions,
} from './helpers/scripted-gateway.js';

type Json = Record<string, unknown>;

interface Sent {
  messages: { content: Json[] }[];
}

const SEARCH = { type: 'web_search_20250305', name: 'web_search' } as const;
const THINKING = { type: 'enabled', budget_tokens: 1_024 } as const;
const HELLO = { role: 'user', content: 'What is new?' } as const;
const USAGE = { input_tokens: 40, output_tokens: 10, service_tier: 'standard' };
const USE = {
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'web_search',
  input: { query: 'new' },
  caller: { type: 'direct' },
};
const FOUND = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [
    {
      type: 'web_search_result',
      url: 'https://a.example/',
      title: 'A',
      encrypted_content: 'EqgfCioIARgBIiQ3',
      page_age: null,
    },
  ],
};
/** Claude thinks again once it has found something. */
const TURN = [
  { type: 'thinking', thinking: 'I had better look.', signature: 'c2ln' },
  { type: 'text', text: 'I look.' },
  USE,
  FOUND,
  { type: 'thinking', thinking: 'There it is.', signature: 'Z2lz' },
  { type: 'text', text: 'It is.' },
];
const NAMES = ['server_tool_use', 'web_search_tool_result'].map(
  (type) => `messages[].content[].${type}`,
);

/** Says `content`, streamed or not. */
function claude(content: readonly Json[], stop_reason = 'end_turn'): Script {
  return ({ json }, response) => {
    const { stream } = json as { stream: boolean };
    const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude' };
    const list = [
      { type: 'message_start', message: { ...head, content: [], usage: USAGE } },
      ...content.flatMap(blockEvents),
      { type: 'message_delta', delta: { stop_reason }, usage: USAGE },
      { type: 'message_stop' },
    ];
    response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
    response.end(
      stream
        ? list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
        : JSON.stringify({ ...head, content, stop_reason, usage: USAGE }),
    );
  };
}

function blockEvents(block: Json, index: number): object[] {
  const { text, thinking, signature, input } = block;
  const deltas = [
    ...(text === undefined ? [] : [{ type: 'text_delta', text }]),
    ...(thinking === undefined ? [] : [{ type: 'thinking_delta', thinking }]),
    ...(signature === undefined ? [] : [{ type: 'signature_delta', signature }]),
    ...(input === undefined
      ? []
      : [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }]),
  ];
  const content_block = {
    ...block,
    ...(text !== undefined && { text: '' }),
    ...(thinking !== undefined && { thinking: '', signature: '' }),
    ...(input !== undefined && { input: {} }),
  };
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

describe('what the tools of Claude found, in later turns', () => {
  const startGateway = scriptedGateways();

  const open = (
    script: Script | Record<string, Script>,
    options: ScriptedGatewayOptions = {},
  ): Promise<ScriptedGateway> =>
    startGateway(script, {
      uses: 'anthropic',
      upstreams: '{ provider: up, model: claude-sonnet-4-5 }',
      price: '{ input_per_million: 1, output_per_million: 10, per_tool_call: { web_search: 0.1 } }',
      model: 'passthrough: [thinking]',
      max_tokens: 64_000,
      limits: 'tool_calls: 3',
      ...options,
    });

  const messagesTo = ({ url, secret }: ScriptedGateway) =>
    new Anthropic({ baseURL: url, apiKey: secret, maxRetries: 0 }).messages;

  const post = async (gateway: ScriptedGateway, content: readonly object[], more: Json = {}) => {
    const messages = [HELLO, { role: 'assistant', content }, { role: 'user', content: 'And now?' }];
    const body = { model: 'm', max_tokens: 90, tools: [SEARCH], messages, ...more };
    const answer = await ask(gateway, '/v1/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const ignored = answer.headers.get('tollgate-ignored')?.split(', ') ?? [];
    return { ...answer, ignored: ignored.filter((name) => !name.startsWith('thinking')) };
  };
  const sentTo = ({ upstream }: ScriptedGateway): Json[] =>
    (upstream.requests.at(-1)?.json as Partial<Sent> | undefined)?.messages?.[1]?.content ?? [];

  for (const [way, stream, max_tokens] of [
    ['whole', false, 2_000],
    ['whole, of an answer that Claude streams', false, 30_000],
    ['streamed', true, 2_000],
  ] as const) {
    it(`go back to Claude as they came, and in their order, ${way}`, async () => {
      const gateway = await open(claude(TURN));
      const body = { model: 'm', max_tokens, tools: [SEARCH], thinking: THINKING };
      const api = messagesTo(gateway);
      const { content } = stream
        ? await api.stream({ ...body, messages: [HELLO] }).finalMessage()
        : await api.create({ ...body, messages: [HELLO] }, { timeout: 60_000 });
      expect(content).to.deep.equal(TURN);
      const { status, text, ignored } = await post(gateway, content, {
        thinking: THINKING,
        max_tokens,
      });
      expect(status, text).to.equal(200);
      expect(ignored).to.deep.equal([]);
      expect(sentTo(gateway)).to.deep.equal(TURN);
    });

    it(`go on with a turn that paused, thinking as before, ${way}`, async () => {
      const paused = TURN.slice(0, 4).filter(({ type }) => type !== 'text');
      const gateway = await open(claude(paused, 'pause_turn'));
      const body = { model: 'm', max_tokens, tools: [SEARCH], thinking: THINKING };
      const api = messagesTo(gateway);
      const { content, stop_reason } = stream
        ? await api.stream({ ...body, messages: [HELLO] }).finalMessage()
        : await api.create({ ...body, messages: [HELLO] }, { timeout: 60_000 });
      expect(stop_reason).to.equal('pause_turn');
      const messages = [HELLO, { role: 'assistant', content }];
      const { status, text, headers } = await post(gateway, [], { ...body, messages });
      expect(status, text).to.equal(200);
      expect(headers.get('tollgate-ignored')).to.equal(null);
      expect(gateway.upstream.requests.at(-1)?.json).to.deep.include({ thinking: THINKING });
      expect(sentTo(gateway)).to.deep.equal(paused);
    });
  }

  it('keep their marks for the cache', async () => {
    const gateway = await open(claude(TURN));
    const marked = { ...FOUND, cache_control: { type: 'ephemeral' } };
    await post(gateway, [USE, marked, ...TURN.slice(5)]);
    expect(sentTo(gateway)[1]).to.deep.equal(marked);
  });

  for (const [when, tools] of [
    ['offers no tool that Claude runs', [{ name: 'now', input_schema: { type: 'object' } }]],
    ['offers one without a price', [{ type: 'code_execution_20250825', name: 'code_execution' }]],
  ] as const) {
    it(`are left out and named where a call ${when}`, async () => {
      const gateway = await open(claude(TURN));
      const { ignored } = await post(gateway, TURN, { tools });
      expect(ignored).to.include.members(NAMES);
      expect(sentTo(gateway).map(({ type }) => type)).to.deep.equal(['text', 'text']);
      const alone = await post(gateway, TURN.slice(2, 5), { tools, thinking: THINKING });
      expect(alone.status, alone.text).to.equal(200);
      expect(JSON.stringify(sentTo(gateway))).not.to.include('thinking');
    });
  }

  it('are left out and named where another API answers', async () => {
    const gateway = await open(chatJson('No.', { usage: { prompt_tokens: 9 } }), {
      uses: 'groq',
      upstreams: '{ provider: up, model: qwen }',
    });
    const { status, text, ignored } = await post(gateway, TURN);
    expect(status, text).to.equal(200);
    expect(ignored).to.include.members(NAMES);
    expect(gateway.upstream.requests.at(-1)?.body).not.to.include('srvtoolu');
  });

  it('stay with Claude if a search of another API stands for them', async () => {
    const item = {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: {
        type: 'search',
        query: 'new',
        sources: [{ type: 'url', url: 'https://a.example/' }],
      },
    };
    const said = { type: 'message', content: [{ type: 'output_text', text: 'It is.' }] };
    const usage = { input_tokens: 40, output_tokens: 10 };
    const answered: Step = {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ status: 'completed', output: [item, said], usage }),
    };
    const openai = await open(answered, {
      uses: 'openai',
      upstreams: '{ provider: up, model: gpt-4.1 }',
    });
    const body = { model: 'm', max_tokens: 90, tools: [SEARCH], messages: [HELLO] };
    const { content } = await messagesTo(openai).create(body);
    expect(content.map(({ type }) => type)).to.include.members(['server_tool_use']);
    const gateway = await open(claude(TURN));
    const { status, text, ignored } = await post(gateway, content);
    expect(status, text).to.equal(200);
    expect(ignored).to.include.members(NAMES);
    expect(sentTo(gateway)).to.deep.equal([{ type: 'text', text: 'It is.' }]);
  });

  for (const [what, content] of [
    ['a file', { type: 'x', content: { source: { type: 'base64', data: 'JVBERi0=' } } }],
    ['an address', [{ type: 'document', source: { type: 'url', url: 'https://a.example/' } }]],
    ['the ID of a file', { content: [{ type: 'code_execution_output', file_id: 'file_1' }] }],
    ['a mark for the cache', [{ type: 'text', cache_control: { type: 'ephemeral', ttl: '1h' } }]],
  ] as const) {
    it(`are left out and named where ${what} is in them, which their bytes do not bound`, async () => {
      const gateway = await open(claude(TURN));
      const turn = [USE, { ...FOUND, content }, TURN[5] ?? {}];
      const { status, text, ignored } = await post(gateway, turn);
      expect(status, text).to.equal(200);
      expect(ignored).to.include.members(NAMES);
      expect(sentTo(gateway)).to.deep.equal(TURN.slice(5));
    });
  }

  it('are held for by their bytes', async () => {
    // Three searches and 200,000 tokens.
    const gateway = await open(claude(TURN), { credit: '0.5' });
    const found = (length: number) => ({
      ...FOUND,
      content: [{ ...FOUND.content[0], encrypted_content: 'A'.repeat(length) }],
    });
    const less = await post(gateway, [USE, found(150_000), ...TURN.slice(5)]);
    expect(less.status, less.text).to.equal(200);
    const more = await post(gateway, [USE, found(210_000), ...TURN.slice(5)]);
    expect(more.status, more.text).to.equal(402);
  });

  it('keep what Claude has sealed, and lose what is masked', async () => {
    const stages = [
      'auth',
      { validate: 'messages' },
      { mask: { patterns: ['email', 'phone'] } },
      { route: { capability: 'chat' } },
      'balance',
      { transform: 'chat' },
      'meter',
    ];
    const endpoints = { messages: { at: 'POST /v1/messages', stages } };
    const gateway = await open(claude(TURN), {
      settings: `endpoints: ${JSON.stringify(endpoints)}`,
    });
    const sealed = { encrypted_content: '+49 151 12345678' };
    const found = { ...FOUND, content: [{ ...FOUND.content[0], title: 'Of a@b.com', ...sealed }] };
    const asked = { ...USE, input: { query: 'c@d.com' } };
    const { status, text } = await post(gateway, [asked, found, ...TURN.slice(5)]);
    expect(status, text).to.equal(200);
    const sent = JSON.stringify(sentTo(gateway));
    expect(sent).to.include(sealed.encrypted_content).and.not.include('.com"');
  });
});
