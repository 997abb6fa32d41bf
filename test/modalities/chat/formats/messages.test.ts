import { expect } from 'chai';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';
import { ask, type Answer } from '../../../helpers/ask.js';

const HELLO = {
  model: 'acme-chat',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello!' }],
};
const WEATHER = { name: 'weather', input_schema: { type: 'object', properties: {} } };

interface Event {
  type: string;
  index?: number;
  message?: Record<string, unknown>;
  delta?: Record<string, unknown>;
  content_block?: Record<string, unknown>;
  usage?: Record<string, number>;
}

function eventsOf({ text }: Answer): Event[] {
  expect(text).to.match(/\n\n$/u);
  return text
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const [name = '', data = ''] = block.split('\n');
      const event = JSON.parse(data.slice('data: '.length)) as Event;
      expect(name).to.equal(`event: ${event.type}`);
      return event;
    });
}

describe('POST /v1/messages', () => {
  let acme: OpenaiGateway;
  before(async () => {
    acme = await startOpenaiGateway({
      models: `
  acme-thinker: { owner: acme, capabilities: [chat, tools], upstreams: [{ provider: acme }], price: *paid, passthrough: [reasoning_effort], limits: { max_tokens: 4096 } }`,
    });
  });
  after(() => acme.close());

  const post = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    ask(acme, '/v1/messages?beta=true', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const answerOf = async (body: object): Promise<Record<string, unknown>> => {
    const answer = await post(body);
    expect(answer.status, answer.text).to.equal(200);
    return JSON.parse(answer.text) as Record<string, unknown>;
  };

  it("answers with a message in Anthropic's words, and its usage", async () => {
    const { id, ...message } = await answerOf(HELLO);
    expect(id).to.match(/^msg_/u);
    expect(message).to.deep.equal({
      type: 'message',
      role: 'assistant',
      model: 'acme-chat',
      content: [{ type: 'text', text: 'Good day, 🌍!' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 9,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 5,
      },
    });
  });

  it('takes the key from x-api-key, as the clients of this API send it', async () => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': acme.secret },
      body: JSON.stringify(HELLO),
    };
    expect((await fetch(`${acme.url}/v1/messages`, init)).status).to.equal(200);
  });

  it('takes no key from x-api-key at an endpoint of another format', async () => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': acme.secret },
      body: JSON.stringify(HELLO),
    };
    expect((await fetch(`${acme.url}/v1/chat/completions`, init)).status).to.equal(401);
  });

  it('charges a message by its usage', async () => {
    const { account, gateway } = acme;
    const before = (await gateway.store.account(account.id))?.balance_nano ?? 0n;
    await answerOf(HELLO);
    const after = (await gateway.store.account(account.id))?.balance_nano ?? 0n;
    expect(before - after).to.equal(9n * 1_000n + 5n * 2_000n);
  });

  it('streams blocks that are opened and closed, and all of the usage at the end', async () => {
    const events = eventsOf(await post({ ...HELLO, stream: true }));
    expect(events.map(({ type }) => type)).to.deep.equal([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    const texts = events.flatMap(({ delta }) => (delta && 'text' in delta ? [delta.text] : []));
    expect(texts).to.deep.equal(['Good', ' day', ', 🌍', '!']);
    const last = events.find(({ type }) => type === 'message_delta');
    expect(last).to.deep.include({
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: {
        input_tokens: 9,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 4,
      },
    });
  });

  it('streams the arguments of a tool call piece by piece', async () => {
    const body = { ...HELLO, model: 'acme-all', stream: true, tools: [WEATHER] };
    const events = eventsOf(await post(body));
    const start = events.find(({ type }) => type === 'content_block_start');
    expect(start?.content_block).to.deep.equal({
      type: 'tool_use',
      id: 'call_1',
      name: 'weather',
      input: {},
    });
    const pieces = events.map(({ delta }) => delta?.partial_json).filter(Boolean);
    expect(pieces).to.deep.equal(['{"city":', '"Oslo"}']);
    const last = events.find(({ type }) => type === 'message_delta');
    expect(last?.delta).to.include({ stop_reason: 'tool_use' });
  });

  it('never ends a stream that was cut with message_stop', async () => {
    const events = eventsOf(await post({ ...HELLO, model: 'acme-cut', stream: true }));
    expect(events.at(-1)).to.deep.include({ type: 'error' });
    expect(events.map(({ type }) => type)).not.to.include('message_stop');
  });

  it('gives tool calls with their input as an object', async () => {
    const message = await answerOf({ ...HELLO, model: 'acme-all', tools: [WEATHER] });
    expect(message).to.deep.include({
      content: [{ type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Oslo' } }],
      stop_reason: 'tool_use',
    });
  });

  it('sends the results of tools before anything else that the user says', async () => {
    await answerOf({
      ...HELLO,
      model: 'acme-all',
      system: [{ type: 'text', text: 'Be brief.' }],
      tools: [WEATHER],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      messages: [
        { role: 'user', content: 'How is Oslo?' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'weather', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Go on.' },
            { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'Rain.' }] },
          ],
        },
        { role: 'system', content: 'The tools have changed.' },
      ],
    });
    expect(acme.sent()).to.deep.include({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'How is Oslo?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } },
          ],
        },
        { role: 'tool', content: 'Rain.', tool_call_id: 'a' },
        { role: 'user', content: 'Go on.' },
        { role: 'system', content: 'The tools have changed.' },
      ],
      tool_choice: 'required',
      parallel_tool_calls: false,
    });
  });

  it('sends an image on as a data URL', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
    const messages = [{ role: 'user', content: [{ type: 'image', source }] }];
    await answerOf({ ...HELLO, model: 'acme-all', messages });
    expect(acme.sent().messages).to.deep.equal([
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
      },
    ]);
  });

  it('says a budget of thinking as an effort, where the model takes efforts alone', async () => {
    const thinking = { type: 'enabled', budget_tokens: 10_000 };
    await answerOf({ ...HELLO, model: 'acme-thinker', thinking });
    expect(acme.sent()).to.include({ reasoning_effort: 'medium' });
    await answerOf({ ...HELLO, model: 'acme-thinker', thinking: { type: 'adaptive' } });
    expect(acme.sent()).not.to.have.property('reasoning_effort');
  });

  it('says in the words that Claude Code knows how many output tokens there may be', async () => {
    const answer = await post({ ...HELLO, model: 'acme-thinker', max_tokens: 32_000 });
    expect(answer.status).to.equal(400);
    expect(answer.text).to.include(
      'max_tokens: 32000 > 4096, which is the maximum allowed number of output tokens for this model',
    );
  });

  it('names a field that the model does not take', async () => {
    const { headers } = await post({ ...HELLO, top_k: 5, context_management: { edits: [] } });
    expect(headers.get('tollgate-ignored')).to.equal('top_k, context_management');
  });

  for (const [name, value] of [
    ['n', -5],
    ['max_completion_tokens', -1],
    ['stop', 7],
    ['stream_options', 'x'],
    ['parallel_tool_calls', 'x'],
  ] as const) {
    it(`reads no ${name}, which is a word of another API`, async () => {
      const answer = await post({ ...HELLO, [name]: value });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.headers.get('tollgate-ignored')).to.equal(name);
      expect(acme.sent()).not.to.include({ [name]: value });
    });
  }

  for (const [what, body, status, type] of [
    ['no message', { ...HELLO, messages: [] }, 400, 'invalid_request_error'],
    ['an unknown model', { ...HELLO, model: 'nobody' }, 400, 'invalid_request_error'],
    [
      'a block without its text',
      { ...HELLO, messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      400,
      'invalid_request_error',
    ],
    ['an upstream that fails', { ...HELLO, model: 'acme-broken' }, 502, 'api_error'],
  ] as const) {
    it(`answers ${what} with an error in Anthropic's shape`, async () => {
      const answer = await post(body);
      const {
        type: kind,
        error,
        request_id,
      } = JSON.parse(answer.text) as {
        type: string;
        error: { type: string; message: string };
        request_id: string;
      };
      expect([answer.status, kind, error.type]).to.deep.equal([status, 'error', type]);
      expect(error.message).not.to.equal('');
      expect(request_id).to.equal(answer.headers.get('x-request-id'));
    });
  }

  it('refuses a key that is not valid, and an account without credit, in that shape', async () => {
    const wrong = await post(HELLO, { authorization: 'Bearer tg-wrong' });
    expect([wrong.status, JSON.parse(wrong.text)]).to.deep.include.members([401]);
    expect(wrong.text).to.include('"type":"authentication_error"');
    const poor = await post(HELLO, { authorization: `Bearer ${acme.poor}` });
    expect(poor.status).to.equal(402);
    expect(poor.text).to.include('"type":"billing_error"');
  });
});
