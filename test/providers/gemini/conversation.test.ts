import { expect } from 'chai';
import { signedId } from '../../../src/lib/tool-id.js';
import { chat, chunksOf, completionOf, errorOf } from '../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { startGemini, type GeminiServer } from '../../helpers/gemini-server.js';
import type { GeminiBody } from '../../helpers/gemini.js';

interface Call {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

interface Message {
  role: string;
  content: string | null;
  tool_calls?: Call[];
  reasoning_content?: string;
  reasoning_details?: object[];
}

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

  async function say(messages: readonly object[], stream: boolean): Promise<Message> {
    const body = { model: 'thinker', messages, tools: TOOLS, reasoning_effort: 'low', stream };
    const answer = await chat(gateway, body);
    expect(answer.status, answer.text).to.equal(200);
    if (!stream) return completionOf(answer).choices[0]?.message as Message;
    return joined(chunksOf(answer).flatMap(({ choices }) => choices.map(({ delta }) => delta)));
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
      expect(generationConfig['thinkingConfig']).to.deep.equal(thinking);
    });
  }

  it('is refused by the upstream where a client loses the signature', async () => {
    const first = await say([{ role: 'user', content: 'Weather and time?' }], false);
    const calls = first.tool_calls?.map((call, at) => ({ ...call, id: `lost_${at}` }));
    const lost = { ...first, tool_calls: calls };
    const messages = [{ role: 'user', content: 'Go' }, lost, ...resultsOf(lost as Message)];
    const answer = await chat(gateway, { model: 'thinker', messages, tools: TOOLS });
    expect([answer.status, errorOf(answer).message]).to.deep.equal([
      400,
      'Function call is missing a thought_signature in functionCall parts.',
    ]);
  });
});

function resultsOf({ tool_calls = [] }: Message): object[] {
  return tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'fine' }));
}

/** The message that a client makes of the deltas of a stream. */
function joined(deltas: readonly object[]): Message {
  const parts = deltas as Partial<Message & { tool_calls: (Call & { index: number })[] }>[];
  const calls = parts.flatMap((part) => part.tool_calls ?? []);
  return {
    role: 'assistant',
    content: parts.map((part) => part.content ?? '').join(''),
    reasoning_content: parts.map((part) => part.reasoning_content ?? '').join(''),
    reasoning_details: parts.flatMap((part) => part.reasoning_details ?? []),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, type, function: called }) => ({ id, type, function: called })),
    }),
  };
}
