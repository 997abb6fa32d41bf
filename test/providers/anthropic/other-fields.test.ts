import { expect } from 'chai';
import { ask, type Answer } from '../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { chatJson, play, startUpstream, type FakeUpstream } from '../../helpers/upstream.js';

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'Good day' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 20, output_tokens: 9 },
};
const RESULTS = { safeguard_results: [{ name: 'cyber', outcome: 'passed' }] };
const LATE = { late_results: ['x'] };
const BESIDE = { context_management: { applied_edits: [] } };
const SAFEGUARDS = { safeguards: [{ name: 'cyber', threshold: 0.5 }], of_next_year: { a: [1] } };
const PRICE = 'price: { input_per_million: 1000, output_per_million: 2 }';

function block(more: object): object {
  return { type: 'text', text: 'Hi', ...more };
}

function said(content: object): object {
  return { role: 'user', content: [content] };
}

/** Claude Code sends `safeguards`, and the API has new fields often. */
describe('fields of the Messages API that the gateway does not know', () => {
  let claude: FakeUpstream;
  let acme: FakeUpstream;
  let gateway: TestGateway;
  let isDown = false;

  before(async () => {
    claude = await startUpstream(({ json }, response) => {
      if (isDown) return play({ status: 529, body: '{}' }, response);
      const headers = { 'content-type': 'application/json' };
      if (!(json as { stream: boolean }).stream)
        return play({ headers, body: JSON.stringify({ ...MESSAGE, ...RESULTS }) }, response);
      const { content, ...message } = MESSAGE;
      const events: [string, object][] = [
        ['message_start', { message: { ...message, content: [], ...RESULTS } }],
        ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
        [
          'content_block_delta',
          { index: 0, delta: { type: 'text_delta', text: content[0]?.text } },
        ],
        ['content_block_stop', { index: 0 }],
        [
          'message_delta',
          { delta: { stop_reason: 'end_turn', ...LATE }, usage: { output_tokens: 9 }, ...BESIDE },
        ],
        ['message_stop', {}],
      ];
      const body = events
        .map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
        .join('');
      return play({ headers: { 'content-type': 'text/event-stream' }, body }, response);
    });
    acme = await startUpstream((_, response) => play(chatJson('Good day'), response));
    const model = (name: string, ...upstreams: string[]): string =>
      `  ${name}: { owner: acme, capabilities: [chat, tools], ${PRICE}, upstreams: [${upstreams
        .map((one) => `{ provider: ${one}, model: claude-opus-5 }`)
        .join(', ')}] }`;
    gateway = await startGateway(`owners: { acme: { name: Acme } }
providers:
  claude: { uses: anthropic, base_url: '${claude.url}', api_key: sk-ant }
  acme: { uses: openai, base_url: '${acme.url}', api_key: sk-up }
models:
${model('claude', 'claude')}
${model('both', 'claude', 'acme')}
`);
  });
  after(async () => {
    await gateway.close();
    await claude.close();
    await acme.close();
  });

  const post = (model: string, more: object = {}): Promise<Answer> =>
    ask(gateway, '/v1/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        max_tokens: 50,
        messages: [{ role: 'user', content: 'Hello!' }],
        ...SAFEGUARDS,
        ...more,
      }),
    });

  it("reach Anthropic's own wire unchanged, streamed or whole", async () => {
    for (const stream of [false, true]) {
      const answer = await post('claude', { stream });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.headers.get('tollgate-ignored')).to.equal(null);
      expect(claude.requests.at(-1)?.json).to.deep.include(SAFEGUARDS);
    }
  });

  it('bring their results back in a whole answer', async () => {
    const { text } = await post('claude');
    expect(JSON.parse(text)).to.deep.include({ ...RESULTS, model: 'claude', type: 'message' });
  });

  it('bring their results back in a stream, at its start and at its end', async () => {
    const { text } = await post('claude', { stream: true });
    const events = [...text.matchAll(/^data: (.+)$/gmu)].map(
      ([, data = '']) => JSON.parse(data) as { type: string },
    );
    const [start] = events;
    expect(start)
      .to.have.property('message')
      .that.deep.includes({ ...RESULTS, model: 'claude' });
    const end = events.find(({ type }) => type === 'message_delta');
    expect(end).to.deep.include(BESIDE);
    expect(end)
      .to.have.property('delta')
      .that.deep.includes({ ...LATE, stop_reason: 'end_turn' });
  });

  it('are named where another wire answers in the end', async () => {
    isDown = true;
    const answer = await post('both');
    isDown = false;
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.headers.get('tollgate-ignored')).to.equal('safeguards, of_next_year');
    expect(acme.requests.at(-1)?.json).not.to.have.any.keys('safeguards', 'of_next_year');
  });

  const long = 'x'.repeat(1_000_000);
  for (const [where, more] of [
    ['beside the messages', { of_next_year: long }],
    ['in a block', { messages: [said({ text: 'Hi', type: 'text', of_next_year: long })] }],
    [
      'in a block of a result',
      {
        messages: [
          said({ type: 'tool_result', tool_use_id: 'a', content: [block({ of_next_year: long })] }),
        ],
      },
    ],
    ['in a block of the system prompt', { system: [block({ of_next_year: long })] }],
    ['in a tool', { tools: [{ name: 'a', input_schema: {}, of_next_year: long }] }],
  ] as const) {
    it(`are held for, as the model may read them: ${where}`, async () => {
      const poor = await gateway.gateway.store.createAccount(`poor ${where}`, 1_000_000_000n);
      const { secret } = await gateway.gateway.store.createKey(poor.id, 'k');
      const asked = claude.requests.length;
      const body = { model: 'claude', max_tokens: 50, messages: [said(block({}))], ...more };
      const answer = await ask({ url: gateway.url, secret }, '/v1/messages', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(answer.status, answer.text.slice(0, 300)).to.equal(402);
      expect(claude.requests).to.have.length(asked);
    });
  }

  it('are refused if they are nested too deep', async () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    const message = '{"role":"user","content":"Hello!"}';
    const body = `{"model":"claude","max_tokens":50,"messages":[${message}],"of_next_year":${deep}}`;
    const headers = { 'content-type': 'application/json' };
    const { status } = await ask(gateway, '/v1/messages', { method: 'POST', headers, body });
    expect(status).to.equal(400);
  });
});
