import { expect } from 'chai';
import { chat, completionOf } from '../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { chatJson, startUpstream, type FakeUpstream } from '../../helpers/upstream.js';

type Sent = Record<string, unknown> & { messages: Record<string, unknown>[] };

const MARK = { type: 'ephemeral' };
const DETAILS = [
  { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'anthropic-claude-v1' },
];
const CALL = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } };
const BODY = {
  model: 'm',
  max_tokens: 9,
  reasoning_effort: 'none',
  verbosity: 'low',
  tools: [{ type: 'function', function: { name: 'weather' } }],
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache_control: MARK }] },
    { role: 'user', content: 'The weather?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ ...CALL, id: 'c1~ts~QUJD' }],
      reasoning_content: 'Hm.',
      reasoning_details: DETAILS,
    },
    { role: 'tool', tool_call_id: 'c1~ts~QUJD', content: 'rain' },
  ],
};

describe('a request that falls back from OpenRouter to DeepSeek', () => {
  let busy: FakeUpstream;
  let free: FakeUpstream;
  let gateway: TestGateway;

  before(async () => {
    busy = await startUpstream({ status: 503, body: '{}' });
    free = await startUpstream(chatJson('It rains.'));
    gateway = await startGateway(`owners: { acme: { name: Acme } }
providers:
  first: { uses: openrouter, base_url: '${busy.url}', api_key: sk-first-0123456789 }
  second: { uses: deepseek, base_url: '${free.url}', api_key: sk-second-0123456789 }
models:
  m:
    owner: acme
    capabilities: [chat, tools]
    upstreams: [{ provider: first, model: claude }, { provider: second, model: deepseek-v4 }]
    price: { input_per_million: 1, output_per_million: 10 }
`);
    completionOf(await chat(gateway, BODY));
  });
  after(async () => {
    await gateway.close();
    await Promise.all([busy.close(), free.close()]);
  });

  const sentTo = ({ requests }: FakeUpstream): Sent => requests.at(-1)?.json as Sent;

  it('is said to OpenRouter with details, marks for the cache and its own effort', () => {
    const { messages, reasoning, ...sent } = sentTo(busy);
    expect(reasoning).to.deep.equal({ effort: 'none' });
    expect(sent).to.include({ verbosity: 'low', max_tokens: 9 });
    expect(messages[0]).to.deep.equal(BODY.messages[0]);
    expect(messages[2]).to.deep.include({ tool_calls: [CALL], reasoning_details: DETAILS });
    expect(messages[2]).to.not.have.property('reasoning_content');
    expect(messages[3]).to.include({ tool_call_id: 'c1' });
  });

  it('is said to DeepSeek with the text of the reasoning, and without what it does not know', () => {
    const { messages, thinking, ...sent } = sentTo(free);
    expect(thinking).to.deep.equal({ type: 'disabled' });
    expect(sent).to.include({ max_tokens: 9 });
    expect(sent).to.not.have.any.keys('verbosity', 'reasoning', 'reasoning_effort');
    expect(messages[0]?.content).to.deep.equal([{ type: 'text', text: 'Be brief.' }]);
    expect(messages[2]).to.deep.include({ tool_calls: [CALL], reasoning_content: 'Hm.' });
    expect(messages[2]).to.not.have.property('reasoning_details');
    expect(messages[3]).to.include({ tool_call_id: 'c1' });
  });
});
