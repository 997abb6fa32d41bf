import { expect } from 'chai';
import { chat } from '../../helpers/ask.js';
import { startClaude } from '../../helpers/claude-server.js';
import { saidIn, talk, type Said } from '../../helpers/conversation.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { startGemini, type GeminiServer } from '../../helpers/gemini-server.js';
import type { FakeUpstream } from '../../helpers/upstream.js';

const CLAUDE = 'claude-sonnet-4-5@20250929';
const GEMINI = 'gemini-3-flash-preview';

const tools = ['weather', 'clock'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}));
const ASKED = { tools, reasoning_effort: 'low', max_tokens: 8_000 };
const RESULTS: Record<string, string> = { weather: '−3 °C ❄', clock: '12:00' };

const GEMINI_TURNS = [
  [
    { text: 'The weather first.', thought: true },
    { functionCall: { name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'c2ln+/8=' },
    { functionCall: { name: 'clock', args: {} } },
  ],
  [{ text: 'Cold, at noon.' }, { text: '', thoughtSignature: 'dGV4dA==' }],
  [{ text: 'You are welcome.' }],
];

type Asked = Parameters<Parameters<typeof startClaude>[0]>[0];

/** Claude's turns: two calls at once, what their results say, and a word for the thanks. */
function claudeTurn({ messages, thinking }: Asked): { type: string }[] {
  const think = (said: string) => (thinking ? [{ type: 'thinking', thinking: said }] : []);
  const call = (name: string) => ({
    type: 'tool_use',
    id: `toolu_${name}`,
    name,
    input: { city: 'Oslo' },
  });
  switch (messages.filter(({ role }) => role === 'assistant').length) {
    case 0:
      return [...think('The weather first.'), call('weather'), call('clock')];
    case 1:
      return [...think('That is all.'), { type: 'text', text: 'Cold, at noon.' } as never];
    default:
      return [{ type: 'text', text: 'You are welcome.' } as never];
  }
}

describe('a conversation of three turns on Vertex AI, with tools and thinking', () => {
  let claude: FakeUpstream;
  let gemini: GeminiServer;
  let gateway: TestGateway;

  beforeEach(async () => {
    claude = await startClaude(claudeTurn);
    gemini = await startGemini(GEMINI_TURNS);
    const model = (provider: string, id: string): string => `
    owner: g
    capabilities: [chat, tools]
    passthrough: [reasoning_content, reasoning_effort]
    upstreams: [{ provider: ${provider}, model: "${id}" }]
    price: { input_per_million: 3, output_per_million: 15 }`;
    gateway = await startGateway(`owners: { g: { name: G } }
providers:
  vertex-claude: { uses: vertex, api_key: AIza-test-0123456789, base_url: "${claude.url}/v1" }
  vertex-gemini: { uses: vertex, api_key: AIza-test-0123456789, base_url: "${gemini.url}/v1" }
models:
  claude:${model('vertex-claude', CLAUDE)}
  gemini:${model('vertex-gemini', GEMINI)}
`);
  });
  afterEach(async () => {
    await gateway.close();
    await claude.close();
    await gemini.close();
  });

  /** Asks, has both tools run, hears the answer, and thanks. */
  async function converse(model: string, stream: boolean): Promise<Said[]> {
    const body = { ...ASKED, model, stream };
    const messages: object[] = [{ role: 'user', content: 'How is Oslo, and how late?' }];
    const turns = await talk(gateway, body, messages, (call) => RESULTS[call.function.name] ?? '');
    messages.push({ role: 'user', content: 'Thank you.' });
    return [...turns, saidIn(await chat(gateway, { ...body, messages }))];
  }

  for (const stream of [false, true]) {
    const way = stream ? 'streamed' : 'whole';

    it(`brings Claude's signed thoughts back to it, ${way}`, async () => {
      const said = await converse('claude', stream);
      expect(said.map(({ content }) => content)).to.deep.equal([
        null,
        'Cold, at noon.',
        'You are welcome.',
      ]);
      expect(said[0]?.tool_calls).to.have.length(2);
      const thoughts = said.map(({ reasoning_content }) => reasoning_content);
      expect(thoughts).to.deep.equal(['The weather first.', 'That is all.', undefined]);
      const verb = stream ? 'streamRawPredict' : 'rawPredict';
      for (const { path } of claude.requests) {
        expect(decodeURIComponent(path)).to.equal(
          `/v1/publishers/anthropic/models/${CLAUDE}:${verb}`,
        );
      }
      const [, second] = claude.requests;
      expect(second?.json).to.have.nested.property('thinking.type', 'enabled');
    });

    it(`brings Gemini's thought signatures back to it, ${way}`, async () => {
      const said = await converse('gemini', stream);
      expect(gemini.refusals).to.deep.equal([]);
      expect(said.map(({ content }) => content)).to.deep.equal([
        null,
        'Cold, at noon.',
        'You are welcome.',
      ]);
      expect(said[0]?.reasoning_content).to.equal('The weather first.');
      const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
      for (const { path } of gemini.requests) {
        expect(path).to.equal(`/v1/publishers/google/models/${GEMINI}:${verb}`);
      }
      expect(gemini.requests).to.have.length(3);
    });
  }

  it('goes on with Gemini where Claude has called the tools, and takes no signature along', async () => {
    const question = { role: 'user', content: 'How is Oslo?' };
    const first = await chat(gateway, { ...ASKED, model: 'claude', messages: [question] });
    const said = saidIn(first);
    const results = said.tool_calls?.map(({ id }) => ({
      role: 'tool',
      tool_call_id: id,
      content: 'fine',
    }));
    await chat(gateway, {
      ...ASKED,
      model: 'gemini',
      messages: [question, said, ...(results ?? [])],
    });
    const sent = JSON.stringify(gemini.requests.at(-1)?.json);
    expect(sent).to.include('"name":"weather"').and.not.include('toolu_weather~');
    const details = said.reasoning_details as { signature: string }[] | undefined;
    expect(details?.[0]?.signature).to.be.a('string');
    expect(sent).to.not.include(details?.[0]?.signature);
  });
});
