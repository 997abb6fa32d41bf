import { expect } from 'chai';
import { GoogleGenAI, type Content, type GenerateContentResponse, type Part } from '@google/genai';
import { startClaude } from '../../../helpers/claude-server.js';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import { startGemini, type GeminiServer } from '../../../helpers/gemini-server.js';
import type { GeminiBody } from '../../../helpers/gemini.js';
import type { FakeUpstream } from '../../../helpers/upstream.js';

/** Thinks and calls two functions at once, then a third, then answers, with a signed text. */
const SCRIPT = [
  [
    { text: 'Weather first.', thought: true },
    {
      functionCall: { id: 'w', name: 'weather', args: { city: 'Oslo' } },
      thoughtSignature: 'c2ln',
    },
    { functionCall: { id: 'c', name: 'clock', args: {} } },
  ],
  [{ functionCall: { id: 'n', name: 'news', args: {} }, thoughtSignature: 'c2lnMg==' }],
  [{ text: 'Clear at noon.' }, { text: '', thoughtSignature: 'dGV4dA==' }],
  [{ text: 'You are welcome.' }],
];
const functionDeclarations = ['weather', 'clock', 'news'].map((name) => ({ name }));

describe("a conversation of Google's own client with Gemini", () => {
  let gemini: GeminiServer;
  let house: TestGateway;
  let client: GoogleGenAI;
  before(async () => {
    gemini = await startGemini(SCRIPT);
    house = await startGateway(`owners: { g: { name: G } }
providers: { gemini: { api_key: AIza-test-0123456789, base_url: "${gemini.url}/v1beta" } }
models:
  thinker:
    owner: g
    capabilities: [chat, tools]
    upstreams: [{ provider: gemini, model: gemini-3-flash-preview }]
    price: { input_per_million: 1, output_per_million: 2 }
`);
    client = new GoogleGenAI({ apiKey: house.secret, httpOptions: { baseUrl: house.url } });
  });
  after(async () => {
    await house.close();
    await gemini.close();
  });

  type Say = (contents: Content[], includeThoughts: boolean) => Promise<Content[]>;

  const request = (contents: Content[], includeThoughts: boolean) => ({
    model: 'thinker',
    contents,
    config: { tools: [{ functionDeclarations }], thinkingConfig: { includeThoughts } },
  });
  const turnOf = ({ candidates }: GenerateContentResponse): Content[] =>
    (candidates ?? []).flatMap(({ content }) => content ?? []);
  const whole: Say = async (...asked) =>
    turnOf(await client.models.generateContent(request(...asked)));
  /** A streamed turn goes back in the pieces that it came in. */
  const streamed: Say = async (...asked) => {
    const turns: Content[] = [];
    const stream = await client.models.generateContentStream(request(...asked));
    for await (const answer of stream) turns.push(...turnOf(answer));
    return turns;
  };
  const partsIn = (turns: readonly Content[]) => turns.flatMap(({ parts = [] }) => parts);
  const results = (turns: readonly Content[]): Content => ({
    role: 'user',
    parts: partsIn(turns).flatMap(({ functionCall }) =>
      functionCall ? [{ functionResponse: { ...functionCall, response: { ok: true } } }] : [],
    ),
  });

  for (const [way, say] of [
    ['whole', whole],
    ['streamed', streamed],
  ] as const) {
    it(`brings back every signature that Gemini demands, ${way}`, async () => {
      const contents: Content[] = [{ role: 'user', parts: [{ text: 'How is Oslo?' }] }];
      for (const _ of SCRIPT.slice(0, 2)) {
        const turn = await say(contents, true);
        contents.push(...turn, results(turn));
      }
      const last = await say(contents, true);
      expect(
        partsIn(last)
          .map(({ text }) => text ?? '')
          .join(''),
      ).to.equal('Clear at noon.');
      contents.push(...last, { role: 'user', parts: [{ text: 'Thanks.' }] });
      const thanked = await say(contents, true);
      expect(partsIn(thanked)[0]?.text).to.equal('You are welcome.');
      expect(gemini.refusals).to.deep.equal([]);
      const sent = gemini.requests.at(-1)?.json as GeminiBody;
      const signatures = sent.contents.flatMap(({ parts }) =>
        parts.flatMap(({ thoughtSignature }) => thoughtSignature ?? []),
      );
      expect(signatures).to.deep.equal(['c2ln', 'c2lnMg==', 'dGV4dA==']);
    });

    it(`shows thoughts to a client that asks for them, and to no other, ${way}`, async () => {
      const contents = [{ role: 'user', parts: [{ text: 'How is Oslo?' }] }];
      const thoughtsOf = (turns: readonly Content[]) =>
        partsIn(turns).flatMap(({ thought, text }) => (thought ? [text] : []));
      expect(thoughtsOf(await say(contents, true))).to.deep.equal(['Weather first.']);
      expect(thoughtsOf(await say(contents, false))).to.deep.equal([]);
      const sent = gemini.requests.at(-2)?.json as GeminiBody;
      expect(sent.generationConfig.thinkingConfig).to.deep.equal({ includeThoughts: true });
    });
  }
});

describe("a conversation of Google's own client with Claude", () => {
  let claude: FakeUpstream;
  let house: TestGateway;
  let client: GoogleGenAI;
  /** Refuses a round of tools that does not begin with its own signed thoughts. */
  before(async () => {
    claude = await startClaude(({ messages }) =>
      messages.length > 1
        ? [{ type: 'text', text: 'It is cold.' }]
        : [
            { type: 'thinking', thinking: 'I had better look.' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
            { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
          ],
    );
    house = await startGateway(`owners: { a: { name: A } }
providers: { claude: { uses: anthropic, base_url: '${claude.url}', api_key: sk-ant-secret } }
models:
  claude: { owner: a, capabilities: [chat, tools], upstreams: [{ provider: claude, model: claude-sonnet-4-5 }], limits: { max_tokens: 9000 }, price: free }
`);
    client = new GoogleGenAI({ apiKey: house.secret, httpOptions: { baseUrl: house.url } });
  });
  after(async () => {
    await house.close();
    await claude.close();
  });

  for (const includeThoughts of [true, false])
    for (const streams of [true, false])
      it(`brings back thoughts that Claude signed, ${includeThoughts ? 'shown' : 'hidden'}, ${streams ? 'streamed' : 'whole'}`, async () => {
        const thinkingConfig = { includeThoughts, thinkingBudget: 2_048 };
        const tools = [{ functionDeclarations: [{ name: 'look' }] }];
        const chat = client.chats.create({ model: 'claude', config: { tools, thinkingConfig } });
        const say = async (message: Part[]): Promise<Part[]> => {
          const answers = streams
            ? await chat.sendMessageStream({ message })
            : [await chat.sendMessage({ message })];
          const parts: Part[] = [];
          for await (const { candidates } of answers)
            parts.push(...(candidates?.[0]?.content?.parts ?? []));
          return parts;
        };
        const first = await say([{ text: 'Look!' }]);
        expect(first.some(({ thought }) => thought === true)).to.equal(includeThoughts);
        const results = first.flatMap(({ functionCall }) =>
          functionCall ? [{ functionResponse: { ...functionCall, response: { t: -3 } } }] : [],
        );
        expect(results).to.have.length(2);
        const last = await say(results);
        expect(last.map(({ text }) => text ?? '').join('')).to.equal('It is cold.');
      });
});
