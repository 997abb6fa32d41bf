import { expect } from 'chai';
import { ask } from '../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { pngHead } from '../../helpers/picture.js';

/** The first of a generation that counts in one way, and the newest. */
const MODELS = ['claude-haiku-4-5', 'claude-opus-4-8'] as const;
/** What the newest models count for a picture, and older ones. */
const PICTURES = [
  [1, 1, 1, 1],
  [256, 256, 100, 100],
  [1_024, 1_024, 1_369, 1_369],
  [1_280, 720, 1_196, 1_196],
  [1_920, 1_080, 1_560, 2_691],
  [3_840, 2_160, 1_560, 4_784],
] as const;
const STYLE_GUIDE = {
  name: 'style_guide',
  description: 'Fetch the project style guide.',
  input_schema: { type: 'object', properties: {} },
};
const GET_FILE = {
  name: 'get_file',
  description: '',
  input_schema: { type: 'object', properties: {}, additionalProperties: false },
};
const FACTS = Array.from({ length: 50 }, (_, at) => {
  const number = String(at).padStart(4, '0');
  const owner = at % 11;
  const file = at % 37;
  return `Fact ${number}: workspace file ${file} has revision ${at}, owner ${owner}, and status verified.`;
});

/** Prompts, and what the provider has reported for them. */
const REPORTED: readonly [string, number, (typeof MODELS)[number], object][] = [
  ['a question', 21, MODELS[0], said('Why is the sky blue? Answer in 5 words or less')],
  [
    'thinking',
    50,
    MODELS[0],
    {
      ...said('What is 2 + 2? Think before you answer.'),
      thinking: { type: 'enabled', budget_tokens: 1_024 },
    },
  ],
  [
    'a tool',
    558,
    MODELS[0],
    {
      ...said(
        'Use the get_file tool now to retrieve a image file, then describe what you received.',
      ),
      tools: [GET_FILE],
    },
  ],
  [
    'facts, by the newest vocabulary',
    1_592,
    MODELS[1],
    {
      system: 'Reply with OK.',
      messages: [
        {
          role: 'user',
          content: ['Stable harness state for the mid-conversation cache test.', ...FACTS].join(
            '\n',
          ),
        },
        { role: 'assistant', content: 'OK' },
        { role: 'user', content: 'context' },
        { role: 'system', content: 'S' },
      ],
    },
  ],
  [
    'a call, by the newest vocabulary',
    447,
    MODELS[1],
    {
      system: 'You are a code reviewer.',
      tools: [STYLE_GUIDE],
      messages: [
        {
          role: 'user',
          content: 'Look up the style guide, then review `def add(a, b): return a + b`.',
        },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'call_1', name: 'style_guide', input: {} }],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: 'Prefer explicit signatures.' },
          ],
        },
        {
          role: 'system',
          content: 'From now on, every suggestion must include explicit type annotations.',
        },
      ],
    },
  ],
];

function said(content: unknown): { messages: object[] } {
  return { messages: [{ role: 'user', content }] };
}

describe('the tokens of a prompt for Claude', () => {
  let gateway: TestGateway;

  before(async () => {
    const model = (name: string): string =>
      `  ${name}: { owner: a, capabilities: [chat, vision, tools], price: { input_per_million: 3, output_per_million: 15 }, upstreams: [{ provider: claude, model: ${name} }] }`;
    gateway = await startGateway(`owners: { a: { name: A } }
providers: { claude: { uses: anthropic, base_url: 'http://127.0.0.1:9', api_key: sk-ant } }
models:
${MODELS.map(model).join('\n')}
`);
  });
  after(() => gateway.close());

  const count = async (model: string, prompt: object): Promise<number> => {
    const body = { model, ...prompt };
    const { status, text } = await ask(gateway, '/v1/messages/count_tokens', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(status, text).to.equal(200);
    return (JSON.parse(text) as { input_tokens: number }).input_tokens;
  };
  const image = (bytes: Buffer): object => ({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: bytes.toString('base64') },
  });

  for (const [width, height, older, newest] of PICTURES) {
    it(`were 4784 for each picture, of ${width}x${height} pixels too`, async () => {
      const question = { type: 'text', text: 'What is this vegetable?' };
      for (const [model, tokens] of [
        [MODELS[0], older],
        [MODELS[1], newest],
      ] as const) {
        const alone = await count(model, said([question]));
        const both = await count(model, said([question, image(pngHead(width, height))]));
        expect(both - alone, model).to.be.within(
          tokens * 0.85,
          Math.max(tokens + 1, tokens * 1.15),
        );
      }
    });
  }

  for (const [what, tokens, model, prompt] of REPORTED) {
    it(`are within 15 percent of what the provider reports for ${what}`, async () => {
      expect(await count(model, prompt)).to.be.within(tokens * 0.85, tokens * 1.15);
    });
  }
});
