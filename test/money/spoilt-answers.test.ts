import { expect } from 'chai';
import { eventFrame, exceptionFrame } from '../helpers/aws-frames.js';
import { chatJson, sse, type Step } from '../helpers/upstream.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { play, startUpstream, type FakeUpstream } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const refused = (error: object, status = 400): Step => ({
  status,
  headers: JSON_TYPE,
  body: JSON.stringify({ error }),
});
const event = (data: object, name = ''): string =>
  `${name && `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
const streamed = (...events: string[]): Step => ({
  headers: { 'content-type': 'text/event-stream' },
  body: events.join(''),
});

const SPOILT = {
  message: 'Failed to call a function.',
  type: 'invalid_request_error',
  code: 'tool_use_failed',
  failed_generation: '<function=look{}',
};

interface Case {
  name: string;
  uses: string;
  step: Step;
  stream?: boolean;
}

const CASES: Case[] = [
  { name: 'a tool call that Groq could not read', uses: 'groq', step: refused(SPOILT) },
  {
    name: 'an output in JSON that Groq could not read',
    uses: 'groq',
    step: refused({ type: 'invalid_request_error', code: 'json_validate_failed', message: '?' }),
  },
  {
    name: 'the same as an event of a stream',
    uses: 'groq',
    stream: true,
    step: streamed(event({ error: { ...SPOILT, status_code: 400 } }, 'error')),
  },
  {
    name: 'the same as the data of a stream, without a status',
    uses: 'openai',
    stream: true,
    step: streamed(event({ error: SPOILT })),
  },
  {
    name: 'the same inside a 200',
    uses: 'openai',
    step: { headers: JSON_TYPE, body: JSON.stringify({ error: SPOILT }) },
  },
  {
    name: "a reseller's upstream that could not read it",
    uses: 'openrouter',
    step: refused({
      code: 400,
      message: 'Provider returned error',
      metadata: { raw: JSON.stringify({ error: SPOILT }), provider_name: 'Groq' },
    }),
  },
  {
    name: 'a choice whose call could not be read',
    uses: 'openai',
    step: chatJson('', {
      choices: [{ index: 0, message: {}, finish_reason: 'function_call: MALFORMED_FUNCTION_CALL' }],
    }),
  },
  {
    name: 'a content filter that failed at Azure',
    uses: 'openai',
    step: refused({ code: 'content_filter_error', message: 'The contents are not filtered' }),
  },
  {
    name: 'a 400 of an overloaded model',
    uses: 'mistral',
    step: refused({ type: 'invalid_request_error', message: 'The model is currently overloaded.' }),
  },
  {
    name: 'a 400 of Anthropic for overload',
    uses: 'anthropic',
    step: refused({ type: 'overloaded_error', message: 'Overloaded' }),
  },
  {
    name: 'the same as an event of a stream',
    uses: 'anthropic',
    stream: true,
    step: streamed(
      event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'error'),
    ),
  },
  {
    name: 'a 400 of Gemini for overload',
    uses: 'gemini',
    step: refused({ code: 400, status: 'UNAVAILABLE', message: 'The model is overloaded.' }),
  },
  {
    name: 'a call that Gemini could not read, after thoughts',
    uses: 'gemini',
    step: {
      headers: JSON_TYPE,
      body: JSON.stringify({
        candidates: [
          {
            content: { role: 'model', parts: [{ text: 'Hm.', thought: true }] },
            finishReason: 'MALFORMED_FUNCTION_CALL',
          },
        ],
        usageMetadata: { promptTokenCount: 5 },
      }),
    },
  },
  {
    name: 'an exception of a stream of Bedrock',
    uses: 'bedrock',
    stream: true,
    step: {
      headers: { 'content-type': 'application/vnd.amazon.eventstream' },
      chunks: [
        eventFrame('messageStart', { role: 'assistant' }),
        exceptionFrame('modelStreamErrorException', 'Model produced invalid sequence.'),
      ],
    },
  },
];

/** The request of each client format. */
const REQUESTS: Record<string, (model: string, stream: boolean) => [string, object]> = {
  chat: (model, stream) => ['/v1/chat/completions', { model, messages: MESSAGES, stream }],
  messages: (model, stream) => [
    '/v1/messages',
    { model, messages: MESSAGES, max_tokens: 50, stream },
  ],
  responses: (model, stream) => ['/v1/responses', { model, input: 'Look.', stream }],
  gemini: (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: 'Look.' }] }] },
  ],
};
const MESSAGES = [{ role: 'user', content: 'Look.' }];
const PRICE = 'price: { input_per_million: 1, output_per_million: 2 }';
const SUNNY = sse([
  { choices: [{ index: 0, delta: { content: 'Sunny' }, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 5, completion_tokens: 1 } },
  'data: [DONE]\n\n',
]);

describe("a fault of the upstream's own that it blames on the request", () => {
  const upstreams: FakeUpstream[] = [];
  let good: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    good = await startUpstream(({ json }, response) =>
      play((json as { stream?: boolean }).stream ? SUNNY : chatJson('Sunny'), response),
    );
    for (const { step } of CASES) upstreams.push(await startUpstream(step));
    upstreams.push(good, await startUpstream(refused(OWN_WORDS)));
    const [theirs] = upstreams.slice(-1);
    const provider = (name: string, uses: string, url = ''): string =>
      `  ${name}: { uses: ${uses}, base_url: '${url}', api_key: sk-up-0123456789 }`;
    const model = (name: string, ...names: string[]): string =>
      `  ${name}: { owner: acme, capabilities: [chat, tools], ${PRICE}, upstreams: [${names
        .map((one) => `{ provider: ${one}, model: some-model }`)
        .join(', ')}] }`;
    gateway = await startGateway(`owners: { acme: { name: Acme } }
providers:
${CASES.map(({ uses }, at) => provider(`bad-${at}`, uses, upstreams[at]?.url)).join('\n')}
${provider('theirs', 'openai', theirs?.url)}
${provider('good', 'openai', good.url)}
models:
${CASES.map((_, at) => model(`both-${at}`, `bad-${at}`, 'good')).join('\n')}
${CASES.map((_, at) => model(`alone-${at}`, `bad-${at}`)).join('\n')}
${model('theirs', 'theirs', 'good')}
`);
  });
  after(async () => {
    const { store } = gateway.gateway;
    await until(async () => (await store.verify()).open_holds === 0, 'no hold is open');
    expect((await store.verify()).faults).to.deep.equal([]);
    await gateway.close();
    for (const upstream of upstreams) await upstream.close();
  });

  const post = async ([path, body]: [string, object]): Promise<{
    status: number;
    text: string;
  }> => {
    const { url, secret } = gateway;
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, init);
    return { status: answer.status, text: await answer.text() };
  };

  const charges = async (): Promise<number> => {
    const rows = await gateway.gateway.store.ledger(gateway.account.id, { limit: 1_000 });
    return rows.filter(({ kind }) => kind === 'charge').length;
  };

  CASES.forEach(({ name, uses, stream = false }, at) => {
    const title = `${name} (${uses}${stream ? ', streamed' : ''})`;
    it(`${title}: the next upstream answers`, async () => {
      for (const [format, request] of Object.entries(REQUESTS)) {
        const { status, text } = await post(request(`both-${at}`, stream));
        expect(status, `${format}: ${text}`).to.equal(200);
        expect(text, format).to.include('Sunny');
      }
    });

    it(`${title}: alone it is a 502, and nothing is charged`, async () => {
      const charged = await charges();
      for (const [format, request] of Object.entries(REQUESTS)) {
        const { status, text } = await post(request(`alone-${at}`, stream));
        // A stream of Responses says so in its only event.
        if (format === 'responses' && stream) expect(text).to.include('response.failed');
        else expect(status, `${format}: ${text}`).to.equal(502);
        expect(text, format).not.to.include('failed_generation');
      }
      expect(await charges()).to.equal(charged);
    });
  });

  it("keeps a 400 that repeats such words of the client's", async () => {
    const asked = good.requests.length;
    const { status } = await post([
      '/v1/chat/completions',
      { model: 'theirs', messages: MESSAGES },
    ]);
    expect(status).to.equal(400);
    expect(good.requests).to.have.length(asked);
  });
});

const OWN_WORDS = { message: "messages[0]: 'failed to call a function' is no role.", code: 'x' };
