import { expect } from 'chai';
import { chat, completionOf } from '../../helpers/ask.js';
import { startClaude } from '../../helpers/claude-server.js';
import { saidIn, type Said } from '../../helpers/conversation.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import type { FakeUpstream } from '../../helpers/upstream.js';

const THOUGHTS = ['I need the weather of both.', 'Oslo is cold, Rome is not.'];
const FACTS: Record<string, string> = { Oslo: '−3 °C ❄', Rome: '18 °C ☀' };
const tools = [
  {
    type: 'function',
    function: {
      name: 'weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  },
];

/** Looks the weather up, tells it, and is thanked. */
function claude(asked: Parameters<Parameters<typeof startClaude>[0]>[0]) {
  const results = asked.messages.at(-1)?.content.filter(({ type }) => type === 'tool_result');
  const think = (at: number): { type: string; thinking: string | undefined }[] =>
    asked.thinking?.type === 'enabled' ? [{ type: 'thinking', thinking: THOUGHTS[at] }] : [];
  if (results && results.length > 0) {
    const facts = results.map(({ content }) => (content as { text: string }[])[0]?.text);
    return [...think(1), { type: 'text', text: `It is ${facts.join(' and ')}.` }];
  }
  if (asked.messages.length > 1) return [{ type: 'text', text: 'You are welcome.' }];
  const look = (id: string, city: string) => ({
    type: 'tool_use',
    id,
    name: 'weather',
    input: { city },
  });
  return [
    ...think(0),
    { type: 'text', text: 'Let me look.' },
    look('toolu_1', 'Oslo'),
    look('toolu_2', 'Rome'),
  ];
}

describe('a conversation of three turns with Claude', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startClaude(claude);
    gateway = await startGateway(`
owners: { anthropic: { name: Anthropic } }
providers: { anthropic: { api_key: sk-ant-0123456789, base_url: '${upstream.url}' } }
models:
  claude:
    owner: anthropic
    capabilities: [chat, tools]
    upstreams: [{ provider: anthropic, model: claude-sonnet-4-5 }]
    limits: { max_tokens: 64000 }
    passthrough: [reasoning_content]
    price: { input_per_million: 3, output_per_million: 15 }
`);
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  /** One turn: what the client has so far, and what Claude adds to it. */
  async function turn(messages: object[], more: object): Promise<{ said: Said; ignored: unknown }> {
    const effort = { reasoning_effort: 'low', tools, max_tokens: 8_000 };
    const answer = await chat(gateway, { model: 'claude', messages, ...effort, ...more });
    return { said: saidIn(answer), ignored: answer.headers.get('tollgate-ignored') };
  }

  /** All three turns; the client does with each message what `keep` says. */
  async function converse(more: object, keep: (said: Said) => object): Promise<Said[]> {
    const messages: object[] = [{ role: 'user', content: 'Oslo and Rome?' }];
    const first = await turn(messages, more);
    messages.push(keep(first.said));
    for (const { id, function: called } of first.said.tool_calls ?? []) {
      const { city } = JSON.parse(called.arguments) as { city: string };
      messages.push({ role: 'tool', tool_call_id: id, content: FACTS[city] });
    }
    const second = await turn(messages, more);
    messages.push(keep(second.said), { role: 'user', content: 'Thank you.' });
    return [first.said, second.said, (await turn(messages, more)).said];
  }

  for (const more of [{}, { stream: true }, { max_tokens: 30_000 }]) {
    it(`brings back what Claude demands, with ${JSON.stringify(more)}`, async () => {
      const said = await converse(more, (message) => message);
      expect(said.map(({ content }) => content)).to.deep.equal([
        'Let me look.',
        'It is −3 °C ❄ and 18 °C ☀.',
        'You are welcome.',
      ]);
      expect(said.map(({ reasoning_content }) => reasoning_content)).to.deep.equal([
        ...THOUGHTS,
        undefined,
      ]);
      const [, second] = upstream.requests.slice(-2).map(({ json }) => json) as object[];
      expect(second).to.have.nested.property('thinking.type', 'enabled');
    });
  }

  it('goes on without thinking where the client brings no thoughts back, and says so', async () => {
    const forget = ({ role, content, tool_calls }: Said): object => ({ role, content, tool_calls });
    const messages: object[] = [{ role: 'user', content: 'Oslo and Rome?' }];
    const { said } = await turn(messages, {});
    messages.push(forget(said));
    for (const { id } of said.tool_calls ?? []) {
      messages.push({ role: 'tool', tool_call_id: id, content: 'Fog.' });
    }
    const second = await turn(messages, {});
    expect(second.said.content).to.equal('It is Fog. and Fog..');
    expect(second.ignored).to.equal('reasoning_effort');
    expect(upstream.requests.at(-1)?.json).to.not.have.property('thinking');
  });

  it('asks for a long answer as a stream, and gives it whole to a client that wants it so', async () => {
    const messages = [{ role: 'user', content: 'Oslo and Rome?' }];
    const answer = await chat(gateway, { model: 'claude', messages, tools });
    expect(upstream.requests.at(-1)?.json).to.include({ stream: true, max_tokens: 64_000 });
    const { choices, usage } = completionOf(answer);
    expect(choices[0]).to.deep.include({ finish_reason: 'tool_calls' });
    expect(choices[0]?.message.tool_calls).to.have.length(2);
    expect(usage).to.deep.include({ prompt_tokens: 25, completion_tokens: 9 });
  });
});
