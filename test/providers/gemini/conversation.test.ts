import { expect } from 'chai';
import { signedId } from '../../../src/lib/tool-id.js';
import { chat, errorOf } from '../../helpers/ask.js';
import { saidIn, type Said } from '../../helpers/conversation.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { startGemini, type GeminiServer } from '../../helpers/gemini-server.js';
import type { GeminiBody } from '../../helpers/gemini.js';

/** Thinks and calls two functions at once, then a third, then answers, with a signed text. */
const SCRIPT = [
  [
    { text: 'Weather first.', thought: true },
    { functionCall: { name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'c2ln+/8=' },
    { functionCall: { name: 'clock', args: {} } },
  ],
  [{ functionCall: { id: 'own1', name: 'news', args: {} }, thoughtSignature: 'c2lnMg==' }],
  [{ text: 'Clear at noon.' }, { text: '', thoughtSignature: 'dGV4dA==' }],
  [{ text: 'You are welcome.' }],
];

const TOOLS = ['weather', 'clock', 'news'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}));

describe('a conversation with Gemini of several turns, with tools and thinking', () => {
  let gemini: GeminiServer;
  let gateway: TestGateway;
  beforeEach(async () => {
    gemini = await startGemini(SCRIPT);
    gateway = await startGateway(`owners: { g: { name: G } }
providers: { gemini: { api_key: AIza-test-0123456789, base_url: "${gemini.url}/v1beta" } }
models:
  thinker:
    owner: g
    capabilities: [chat, tools]
    passthrough: [reasoning_content]
    upstreams: [{ provider: gemini, model: gemini-3-flash-preview }]
    price: { input_per_million: 1, output_per_million: 2 }
`);
  });
  afterEach(async () => {
    await gateway.close();
    await gemini.close();
  });

  async function say(messages: readonly object[], stream: boolean): Promise<Said> {
    const body = { model: 'thinker', messages, tools: TOOLS, reasoning_effort: 'low', stream };
    return saidIn(await chat(gateway, body));
  }

  for (const stream of [false, true]) {
    it(`goes to its end, ${stream ? 'streamed' : 'not streamed'}`, async () => {
      const messages: object[] = [{ role: 'user', content: 'Weather, time and news?' }];
      const first = await say(messages, stream);
      expect(first.reasoning_content).to.equal('Weather first.');
      expect(first.tool_calls?.map((call) => call.function.name)).to.deep.equal([
        'weather',
        'clock',
      ]);
      messages.push(first, ...resultsOf(first).toReversed());
      const second = await say(messages, stream);
      expect(second.tool_calls?.[0]?.id).to.equal(signedId('own1', 'c2lnMg=='));
      messages.push(second, ...resultsOf(second));
      const third = await say(messages, stream);
      expect(third.content).to.equal('Clear at noon.');
      messages.push(third, { role: 'user', content: 'Thanks.' });
      expect((await say(messages, stream)).content).to.equal('You are welcome.');
      expect(gemini.refusals).to.deep.equal([]);
      const last = gemini.requests.at(-1);
      const { generationConfig } = (last?.json ?? {}) as GeminiBody;
      const thinking = { thinkingLevel: 'LOW', includeThoughts: true };
      expect(generationConfig.thinkingConfig).to.deep.equal(thinking);
    });
  }

  it('is refused by the upstream where a client loses the signature', async () => {
    const first = await say([{ role: 'user', content: 'Weather and time?' }], false);
    const calls = first.tool_calls?.map((call, at) => ({ ...call, id: `lost_${at}` }));
    const lost = { ...first, tool_calls: calls };
    const messages = [{ role: 'user', content: 'Go' }, lost, ...resultsOf(lost as Said)];
    const answer = await chat(gateway, { model: 'thinker', messages, tools: TOOLS });
    expect([answer.status, errorOf(answer).message]).to.deep.equal([
      400,
      'Function call is missing a thought_signature in functionCall parts.',
    ]);
  });
});

function resultsOf({ tool_calls = [] }: Said): object[] {
  return tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'fine' }));
}
