import { expect } from 'chai';
import { chat, completionOf } from '../helpers/ask.js';
import { startClaude } from '../helpers/claude-server.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { startGemini, type GeminiServer } from '../helpers/gemini-server.js';
import { chatJson, play, startUpstream, type FakeUpstream } from '../helpers/upstream.js';

interface Said {
  role: string;
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  reasoning_content?: string;
  reasoning_details?: object[];
}

const tools = ['weather', 'clock'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}));

const GEMINI_TURNS = [
  [],
  [
    { text: 'Now the time.', thought: true },
    { functionCall: { name: 'clock', args: { city: 'Oslo' } }, thoughtSignature: 'c2ln+/8=' },
  ],
];

describe('a conversation that falls back from Claude to Gemini to GPT', () => {
  let claude: FakeUpstream;
  let gemini: GeminiServer;
  let gpt: FakeUpstream;
  let gateway: TestGateway;

  before(async () => {
    claude = await startClaude(() => [
      { type: 'thinking', thinking: 'I need the weather.' },
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
    ]);
    gemini = await startGemini(GEMINI_TURNS);
    gpt = await startUpstream((_, response) => play(chatJson('Cold, at noon.'), response));
    gateway = await startGateway(`
owners: { acme: { name: Acme } }
providers:
  anthropic: { api_key: sk-ant-0123456789, base_url: '${claude.url}' }
  gemini: { api_key: AIza-test-0123456789, base_url: '${gemini.url}/v1beta' }
  openai: { api_key: sk-0123456789, base_url: '${gpt.url}' }
models:
  best:
    owner: acme
    capabilities: [chat, tools]
    upstreams:
      - { provider: anthropic, model: claude-sonnet-4-5 }
      - { provider: gemini, model: gemini-3-flash-preview }
      - { provider: openai, model: gpt-5 }
    limits: { max_tokens: 64000 }
    passthrough: [reasoning_content, reasoning_effort]
    price: { input_per_million: 3, output_per_million: 15 }
`);
  });
  after(async () => {
    await gateway.close();
    await gpt.close();
  });

  const messages: object[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'How is Oslo, and how late?' },
  ];

  async function turn(): Promise<Said> {
    const body = { model: 'best', messages, tools, reasoning_effort: 'low', max_tokens: 8_000 };
    const answer = await chat(gateway, body);
    expect(answer.status, answer.text).to.equal(200);
    return completionOf(answer).choices[0]?.message as Said;
  }

  /** Asks for the next turn, and answers its one tool call. */
  async function turnWithTool(result: string): Promise<Said> {
    const said = await turn();
    const [call] = said.tool_calls ?? [];
    messages.push(said, { role: 'tool', tool_call_id: call?.id, content: result });
    return said;
  }

  it('carries what was said, called and answered through all three wires', async () => {
    const first = await turnWithTool('−3 °C');
    expect(first.reasoning_content).to.equal('I need the weather.');
    await claude.close();

    const second = await turnWithTool('12:00');
    expect(second.reasoning_content).to.equal('Now the time.');
    expect(gemini.refusals).to.deep.equal([]);
    expect(JSON.stringify(gemini.requests.at(-1)?.json))
      .to.include('"name":"weather"')
      .and.to.include('−3 °C');
    await gemini.close();

    const third = await turn();
    expect(third.content).to.equal('Cold, at noon.');
    const sent = gpt.requests.at(-1)?.json as { messages: Said[] };
    const calls = sent.messages.flatMap(({ tool_calls = [] }) => tool_calls);
    expect(calls.map(({ function: called }) => called)).to.deep.equal([
      { name: 'weather', arguments: '{"city":"Oslo"}' },
      { name: 'clock', arguments: '{"city":"Oslo"}' },
    ]);
    const results = sent.messages.filter(({ role }) => role === 'tool') as object[];
    expect(results).to.deep.equal([
      { role: 'tool', tool_call_id: calls[0]?.id, content: '−3 °C' },
      { role: 'tool', tool_call_id: calls[1]?.id, content: '12:00' },
    ]);
    const all = JSON.stringify(sent);
    for (const foreign of ['reasoning_details', 'signature', '~ts~', 'thought']) {
      expect(all).not.to.include(foreign);
    }
  });

  it('charges each turn once', async () => {
    const entries = await gateway.gateway.store.ledger(gateway.account.id, { limit: 10 });
    const charges = entries.filter(({ kind }) => kind === 'charge');
    const providers = charges.map(({ provider }) => String(provider));
    expect(providers).to.have.members(['anthropic', 'gemini', 'openai']);
  });
});
