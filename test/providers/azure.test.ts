import { expect } from 'chai';
import { chat as ask, completionOf, errorOf } from '../helpers/ask.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import {
  chatJson,
  play,
  providerAt,
  sse,
  startUpstream,
  upstreamAt,
  type FakeUpstream,
  type Step,
} from '../helpers/upstream.js';
import { chat, embedding, image, wire_flags } from '../../providers/azure.js';
import { PLAIN_CALL } from '../modalities/image/helpers/plain-call.js';

const upstream = upstreamAt(
  providerAt('http://fake.invalid', { wire: { api_version: '2024-10-21' } }),
  { model: 'my gpt/4o' },
);
const QUERY = '?api-version=2024-10-21';
const PATH = '/deployments/my%20gpt%2F4o';

describe('the dated paths of Azure', () => {
  it('name the deployment, for chat, embeddings and images', () => {
    const call = { messages: [], stream: false, n: 1, max_tokens: 9, fields: {} };
    expect(chat.encode(call, upstream)).to.deep.include({
      path: `${PATH}/chat/completions${QUERY}`,
      body: { model: 'my gpt/4o', messages: [], stream: false, max_tokens: 9 },
    });
    const texts = {
      inputs: ['a'],
      dimensions: undefined,
      encoding_format: 'float' as const,
      fields: {},
    };
    expect(embedding.encode(texts, upstream)).to.include({ path: `${PATH}/embeddings${QUERY}` });
    expect(image.encode(PLAIN_CALL, upstream)).to.include({
      path: `${PATH}/images/generations${QUERY}`,
    });
  });
});

describe('the wire flags of the dated paths of Azure', () => {
  it('are those of OpenAI without that of the Responses API, which has no such path', () => {
    expect(wire_flags).to.include.members(['api_version', 'custom_tools', 'max_stops']);
    expect(wire_flags).to.not.include('responses');
  });
});

describe('Azure OpenAI behind a gateway', () => {
  const HELLO = { model: 'gpt', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 9 };
  const SAFE = { hate: { filtered: false, severity: 'safe' } };
  let script: Step;
  let upstream: FakeUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream((_, response) => play(script, response));
    const price = '{ input_per_million: 1, output_per_million: 10 }';
    const model = (name: string): string =>
      `{ owner: acme, capabilities: [chat, tools], upstreams: [{ provider: ${name}, model: my-gpt }], price: ${price} }`;
    gateway = await startGateway(`owners: { acme: { name: Acme } }
providers:
  v1: { uses: azure, base_url: '${upstream.url}/openai/v1', api_key: azure-key-0123456789 }
  dated:
    uses: azure-deployments
    base_url: '${upstream.url}/openai'
    api_version: 2025-01-01-preview
    api_key: azure-key-0123456789
models: { gpt: ${model('v1')}, dated: ${model('dated')} }
`);
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  it('is asked with its own key header, on the v1 surface, for the deployment', async () => {
    script = chatJson('Hi');
    completionOf(await ask(gateway, HELLO));
    const { path, headers, json } = upstream.requests.at(-1) ?? {};
    expect(path).to.equal('/openai/v1/chat/completions');
    expect(headers).to.include({ 'api-key': 'azure-key-0123456789' });
    expect(headers).to.not.have.property('authorization');
    expect(json).to.include({ model: 'my-gpt' });
  });

  it('is asked on a dated path with the version of its entry', async () => {
    script = chatJson('Hi');
    completionOf(await ask(gateway, { ...HELLO, model: 'dated' }));
    expect(upstream.requests.at(-1)?.path).to.equal(
      '/openai/deployments/my-gpt/chat/completions?api-version=2025-01-01-preview',
    );
  });

  it('is read past what its filters say, in a stream too', async () => {
    const choice = (delta: object, more = {}): object => ({
      choices: [{ index: 0, delta, content_filter_results: SAFE, ...more }],
    });
    script = sse([
      { choices: [], id: '', model: '', prompt_filter_results: [{ prompt_index: 0 }] },
      choice({ role: 'assistant', content: 'Hi' }),
      choice({}, { finish_reason: 'stop' }),
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } },
      'data: [DONE]\n\n',
    ]);
    const { text } = await ask(gateway, { ...HELLO, stream: true });
    expect(text).to.include('"content":"Hi"').and.not.include('filter');
    expect(text.trimEnd().endsWith('data: [DONE]')).to.equal(true);
  });

  it('answers nothing, with content_filter, where a filtered choice has no message', async () => {
    const filtered = { index: 0, finish_reason: 'content_filter', content_filter_results: SAFE };
    script = chatJson('', { choices: [filtered] });
    const [choice] = completionOf(await ask(gateway, HELLO)).choices;
    expect(choice).to.deep.include({ finish_reason: 'content_filter' });
    expect(choice?.message.content).to.equal('');
  });

  const failed = (status: number, error: object, headers = {}): Step => ({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ error }),
  });

  it('refuses a prompt that its filter stops as a breach of the content policy', async () => {
    const innererror = { code: 'ResponsibleAIPolicyViolation' };
    const message = "The response was filtered due to Azure OpenAI's content management policy.";
    script = failed(400, {
      message,
      type: null,
      param: 'prompt',
      code: 'content_filter',
      innererror,
    });
    expect(errorOf(await ask(gateway, HELLO))).to.include({ code: 'content_policy_violation' });
  });

  it('is an upstream error, with Retry-After, where its rate is limited', async () => {
    const message = 'Please retry after 22 seconds.';
    script = failed(429, { message, code: 'RateLimitReached' }, { 'retry-after': '22' });
    // An upstream that says when to come back is not asked before, so this is another one.
    const answer = await ask(gateway, { ...HELLO, model: 'dated' });
    expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([502, '22']);
  });

  it('is an upstream error where the deployment is not there, or the key is wrong', async () => {
    for (const [status, code] of [
      [404, 'DeploymentNotFound'],
      [404, '404'],
      [401, '401'],
    ] as const) {
      script = failed(status, { code, message: 'Not here.' });
      expect((await ask(gateway, HELLO)).status).to.equal(502);
    }
  });
});
