import { expect } from 'chai';
import { ask, type Answer } from '../../../helpers/ask.js';
import { startClaude } from '../../../helpers/claude-server.js';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import {
  chatJson,
  play,
  sse,
  startUpstream,
  type FakeUpstream,
} from '../../../helpers/upstream.js';

type Block = Record<string, unknown> & { type: string };

const DETAILS = [{ type: 'reasoning.encrypted', data: 'b3BhcXVl', format: 'acme-v1', id: 'rs_1' }];
const TOO_LONG =
  "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens " +
  '(3000 in the messages, 2000 in the completion). Please reduce the length.';
const PNG = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
const LOOK = { name: 'look', input_schema: { type: 'object', properties: {} } };
const HI = { role: 'user', content: 'Hi' };

describe('a conversation in the words of the Messages API', () => {
  let claude: FakeUpstream;
  let acme: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    claude = await startClaude(() => [
      { type: 'thinking', thinking: 'I had better look.' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
    ]);
    acme = await startUpstream(({ json }, response) => play(acmeStep(json as Asked), response));
    gateway = await startGateway(`owners: { acme: { name: Acme } }
providers:
  claude: { uses: anthropic, base_url: '${claude.url}', api_key: sk-ant-secret }
  acme: { uses: openrouter, base_url: '${acme.url}', api_key: sk-acme-secret }
models:
  claude:
    &model { owner: acme, capabilities: [chat, tools], upstreams: [{ provider: claude, model: claude-sonnet-4-5 }], limits: { max_tokens: 9000 }, price: { input_per_million: 1, output_per_million: 2 } }
  acme: { <<: *model, upstreams: [{ provider: acme }] }
  long: { <<: *model, upstreams: [{ provider: acme }] }
`);
  });
  after(async () => {
    await gateway.close();
    await Promise.all([claude.close(), acme.close()]);
  });

  const post = (body: object): Promise<Answer> =>
    ask(gateway, '/v1/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ max_tokens: 4_000, ...body }),
    });
  const contentOf = async (body: object): Promise<Block[]> => {
    const { status, text } = await post(body);
    expect(status, text).to.equal(200);
    return (JSON.parse(text) as { content: Block[] }).content;
  };
  const thinking = { type: 'enabled', budget_tokens: 2_000 };

  it('shows thoughts where the client asks for them, and takes them back signed', async () => {
    const first = { model: 'claude', tools: [LOOK], thinking, messages: [HI] };
    const content = await contentOf(first);
    expect(content.map(({ type }) => type)).to.deep.equal(['thinking', 'text', 'tool_use']);
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'A cat.' };
    const messages = [HI, { role: 'assistant', content }, { role: 'user', content: [result] }];
    // The upstream answers 400 to a thought that is not its own, or is missing.
    const answer = await post({ ...first, messages });
    expect([answer.status, answer.headers.get('tollgate-ignored')]).to.deep.equal([200, null]);
    expect(claude.requests.at(-1)?.json).to.have.nested.property(
      'messages[1].content[0].signature',
    );
  });

  it('shows no thoughts that nobody has asked for', async () => {
    const content = await contentOf({ model: 'claude', messages: [HI] });
    expect(content.map(({ type }) => type)).to.deep.equal(['text', 'tool_use']);
  });

  for (const stream of [false, true]) {
    it(`carries the state of another model, sealed, ${stream ? 'in a stream' : 'whole'}`, async () => {
      const body = { model: 'acme', stream, thinking, messages: [HI] };
      const { text } = await post(body);
      const [, data = ''] = /"type":"redacted_thinking","data":"([^"]+)"/u.exec(text) ?? [];
      expect(data).to.match(/^tg1\./u);
      const state = { type: 'redacted_thinking', data };
      const content = [state, { type: 'text', text: 'Good day.' }];
      const messages = [HI, { role: 'assistant', content }, HI];
      await contentOf({ model: 'acme', messages });
      const sent = acme.requests.at(-1)?.json as Sent | undefined;
      expect(sent?.messages[1]?.reasoning_details).to.deep.equal(DETAILS);
      // Claude would refuse what it has not made.
      await contentOf({ model: 'claude', thinking, messages });
      expect(JSON.stringify(claude.requests.at(-1)?.json)).not.to.include(data);
    });
  }

  it('tells a model that sees no images of one that a tool has shown', async () => {
    const use = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
    const content = [{ type: 'image', source: PNG }];
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content };
    const messages = [
      HI,
      { role: 'assistant', content: [use] },
      { role: 'user', content: [result] },
    ];
    for (const [model, upstream] of [
      ['acme', acme],
      ['claude', claude],
    ] as const) {
      const answer = await post({ model, tools: [LOOK], messages });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.headers.get('tollgate-ignored')).to.equal('messages[].content[].image');
      expect(upstream.requests.at(-1)?.body).to.include(
        'cannot be shown to this model: one image.',
      );
    }
    const own = await post({ model: 'acme', messages: [{ role: 'user', content }] });
    expect([own.status, own.text.includes('does not take images')]).to.deep.equal([400, true]);
  });

  it('says in the words that Claude Code knows that prompt and answer are too long', async () => {
    const { status, text } = await post({ model: 'long', messages: [HI] });
    expect(status).to.equal(400);
    expect((JSON.parse(text) as { error: object }).error).to.deep.equal({
      type: 'invalid_request_error',
      message:
        'input length and `max_tokens` exceed context limit: 3000 + 2000 > 4096, ' +
        'decrease input length or `max_tokens` and try again',
    });
  });
});

interface Sent {
  messages: { reasoning_details?: object[] }[];
}

interface Asked {
  model: string;
  stream: boolean;
}

function acmeStep({ model, stream }: Asked): Parameters<typeof play>[0] {
  if (model === 'long')
    return { status: 400, body: JSON.stringify({ error: { message: TOO_LONG } }) };
  const message = { role: 'assistant', content: 'Good day.', reasoning_details: DETAILS };
  if (!stream) return chatJson('', { choices: [{ index: 0, message, finish_reason: 'stop' }] });
  return sse([
    { choices: [{ index: 0, delta: message, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 } },
    'data: [DONE]\n\n',
  ]);
}
