import { expect } from 'chai';
import { GoogleGenAI, type Content, type GenerateContentResponse } from '@google/genai';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import { startGemini, type GeminiServer } from '../../../helpers/gemini-server.js';
import type { GeminiBody } from '../../../helpers/gemini.js';

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
    passthrough: [reasoning_content]
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
      expect(sent.generationConfig['thinkingConfig']).to.deep.equal({ includeThoughts: true });
    });
  }
});
