import { expect } from 'chai';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { startUpstream, type FakeUpstream } from '../helpers/upstream.js';

/** What agents send: code and words, without an escape by its number. */
const RESULT = 'const café = "naïve";\n\treturn /[\\d]+/u.test(text);\n'.repeat(1_500);
const QUESTION = 'Please mend the code.\n'.repeat(100);
const RULES = 'Be careful. '.repeat(100);

const ANSWERS: Record<string, object> = {
  '/chat/completions': {
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  },
  '/messages': {
    role: 'assistant',
    content: [{ type: 'text', text: 'ok' }],
    stop_reason: 'end_turn',
  },
  '/responses': {
    status: 'completed',
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] },
    ],
  },
  gemini: { candidates: [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP' }] },
};

const CALL = { name: 'read', arguments: '{"path":"a.ts"}' };
const MARK = { cache_control: { type: 'ephemeral' } };
/** A turn of an agent in each client format, with its large texts in all of their places. */
const TURNS: Record<string, object> = {
  '/v1/chat/completions': {
    messages: [
      { role: 'system', content: RULES },
      { role: 'user', content: [{ type: 'text', text: QUESTION, ...MARK }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: CALL }],
      },
      { role: 'tool', tool_call_id: 'c1', content: RESULT },
      { role: 'assistant', content: QUESTION },
      { role: 'user', content: QUESTION },
    ],
  },
  '/v1/messages': {
    max_tokens: 99,
    system: [{ type: 'text', text: RULES, ...MARK }],
    messages: [
      { role: 'user', content: QUESTION },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c1', name: 'read', input: { a: QUESTION } }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: RESULT, is_error: true },
          { type: 'text', text: QUESTION },
          { type: 'text', text: RULES },
        ],
      },
      { role: 'assistant', content: QUESTION },
      { role: 'user', content: [{ type: 'text', text: RESULT }] },
    ],
  },
  '/v1/responses': {
    instructions: RULES,
    input: [
      { role: 'developer', content: RULES },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: QUESTION },
          { type: 'input_text', text: RULES },
        ],
      },
      { type: 'function_call', call_id: 'c1', ...CALL },
      { type: 'function_call_output', call_id: 'c1', output: RESULT },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: QUESTION }] },
      { role: 'user', content: QUESTION },
    ],
  },
};

/** The body as a client that writes the first letter of each long text by its number. */
function withNumbers(body: string): string {
  return body.replaceAll(/"([BcP])(?=(?:[^"\\]|\\.){100})/gu, (_, letter: string) => {
    return `"\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

describe('a turn with texts that nobody reads', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream(({ path }, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(ANSWERS[path] ?? ANSWERS.gemini));
    });
    const model = (provider: string, name: string) =>
      `{ owner: a, capabilities: [chat, tools], upstreams: [{ provider: ${provider}, model: ${name} }], price: { input_per_million: 1, output_per_million: 2 } }`;
    gateway = await startGateway(`owners: { a: { name: A } }
providers:
  open: { uses: openai, base_url: '${upstream.url}', api_key: sk }
  claude: { uses: anthropic, base_url: '${upstream.url}', api_key: sk }
  google: { uses: gemini, base_url: '${upstream.url}', api_key: sk }
models:
  chat: ${model('open', 'gpt-4o')}
  messages: ${model('claude', 'claude-sonnet-4-5')}
  responses: ${model('open', 'gpt-5-pro')}
  gemini: ${model('google', 'gemini-2.5-flash')}
  dear: ${model('claude', 'claude-sonnet-4-5').replace('million: 1,', 'million: 100000,')}
endpoints:
  chat: { after: { validate: [{ deny: { words: [nightjar] } }] } }
`);
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  const post = (path: string, body: string): Promise<Response> => {
    const { secret, url } = gateway;
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    return fetch(url + path, { method: 'POST', headers, body });
  };

  for (const path of Object.keys(TURNS)) {
    for (const model of ['chat', 'messages', 'responses', 'gemini']) {
      it(`of ${path} is sent to ${model}, and estimated, as if it had been read`, async () => {
        const body = JSON.stringify({ model, ...TURNS[path] });
        const sealed = await (await post(path, body)).text();
        const read = await (await post(path, withNumbers(body))).text();
        const [first, second] = upstream.requests.slice(-2);
        expect(second?.body).to.not.equal(first?.body);
        expect(first?.json).to.deep.equal(second?.json);
        expect(first?.body.includes(JSON.stringify(RESULT).slice(1, -1))).to.equal(true);
        // The estimate counts samples of long texts.
        expect(promptIn(sealed) / promptIn(read)).to.be.closeTo(1, 0.05);
      });
    }
  }

  for (const [path, turn] of Object.entries(TURNS)) {
    it(`of ${path} is held for as if it had been read`, async () => {
      const body = JSON.stringify({ model: 'dear', ...turn });
      const sealed = await post(path, body);
      expect(sealed.status).to.equal(402);
      const read = await post(path, withNumbers(body));
      expect(messageIn(await sealed.text())).to.equal(messageIn(await read.text()));
    });
  }

  it('is searched whole for words that are denied', async () => {
    const content = `${RESULT} nightjar ${RESULT}`;
    const answer = await post(
      '/v1/chat/completions',
      JSON.stringify({ model: 'chat', messages: [{ role: 'user', content }] }),
    );
    expect(answer.status).to.equal(400);
    expect(await answer.text()).to.include('messages[0].content has content that is not allowed');
  });
});

/** The tokens of the prompt that an answer reports, which the gateway has estimated. */
function promptIn(answer: string): number {
  const { usage } = JSON.parse(answer) as { usage: Record<string, number> };
  return usage.prompt_tokens ?? usage.input_tokens ?? NaN;
}

/** The message of an error, which names the amount that was to be held. */
function messageIn(answer: string): string {
  const { error } = JSON.parse(answer) as { error: { message: string } };
  expect(error.message).to.match(/\$\d/u);
  return error.message;
}
