import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { previewRequests } from '../../src/gateway/preview.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import {
  chatJson,
  play,
  startUpstream,
  type FakeUpstream,
  type Received,
  type Step,
} from '../helpers/upstream.js';

const MESSAGES = [{ role: 'user' as const, content: 'Hi' }];

/** Refuses what OpenAI refuses of a model that reasons, and of one that does not. */
function answer({ json }: Received): Step {
  const asked = json as Record<string, unknown>;
  const reasons = String(asked.model).startsWith('gpt-5');
  const refused = reasons
    ? ['max_tokens', 'temperature', 'top_p', 'presence_penalty', 'stop']
    : ['reasoning_effort'];
  const param = refused.find((name) => name in asked);
  if (param === undefined) return chatJson('Good day.');
  const message = `Unsupported parameter: '${param}' is not supported with this model.`;
  const error = { message, type: 'invalid_request_error', param, code: 'unsupported_parameter' };
  const headers = { 'content-type': 'application/json' };
  return { status: 400, headers, body: JSON.stringify({ error }) };
}

describe('models of OpenAI that refuse a field', () => {
  let openai: FakeUpstream;
  let gateway: TestGateway;
  let client: OpenAI;

  before(async () => {
    openai = await startUpstream((received, response) => play(answer(received), response));
    gateway = await startGateway(`owners: { openai: { name: OpenAI } }
providers: { openai: { base_url: '${openai.url}', api_key: sk-openai } }
models:
  gpt-5: { owner: openai, capabilities: [chat], upstreams: [{ provider: openai }], price: &paid { input_per_million: 1, output_per_million: 2 } }
  gpt-4o: { owner: openai, capabilities: [chat], upstreams: [{ provider: openai }], price: *paid }
  either: { owner: openai, capabilities: [chat], upstreams: [{ provider: openai, model: gpt-5 }, { provider: openai, model: gpt-4o }], price: *paid }
`);
    client = new OpenAI({ apiKey: gateway.secret, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  });
  after(async () => {
    await gateway.close();
    await openai.close();
  });

  it('a temperature for a model that reasons was 400', async () => {
    const { data, response } = await client.chat.completions
      .create({ model: 'gpt-5', messages: MESSAGES, temperature: 0.2, top_p: 1, max_tokens: 9 })
      .withResponse();
    expect(data.choices[0]?.message.content).to.equal('Good day.');
    expect(response.headers.get('tollgate-ignored')).to.equal('temperature');
    expect(openai.requests.at(-1)?.json).to.include({ max_completion_tokens: 9 });
  });

  it('an effort for a model that does not reason was 400', async () => {
    const { response } = await client.responses
      .create({ model: 'gpt-4o', input: 'Hi', reasoning: { effort: 'low' } })
      .withResponse();
    expect(response.headers.get('tollgate-ignored')).to.equal('reasoning.effort');
  });

  it('thinking that was turned off was 400 for a model that does not reason', async () => {
    const { secret: authToken, url: baseURL } = gateway;
    const anthropic = new Anthropic({ authToken, apiKey: null, baseURL, maxRetries: 0 });
    const { response } = await anthropic.messages
      .create({
        model: 'gpt-4o',
        max_tokens: 9,
        messages: MESSAGES,
        thinking: { type: 'disabled' },
      })
      .withResponse();
    expect(response.headers.get('tollgate-ignored')).to.equal(null);
  });

  it('temperatures of Google clients are named in their words', async () => {
    const google = new GoogleGenAI({
      apiKey: gateway.secret,
      httpOptions: { baseUrl: gateway.url },
    });
    const config = { temperature: 0.2 };
    const reply = await google.models.generateContent({ model: 'gpt-5', contents: 'Hi', config });
    expect(reply.text).to.equal('Good day.');
    const named = reply.sdkHttpResponse?.headers?.['tollgate-ignored'];
    expect(named).to.equal('generationConfig.temperature');
  });

  it('stop sequences went to a model that refuses them, and not to the next one', async () => {
    const asked = { messages: MESSAGES, stop: ['END'] };
    await client.chat.completions.create({ model: 'either', ...asked });
    expect(openai.requests.at(-1)?.json).to.include({ model: 'gpt-4o' });
    const before = openai.requests.length;
    const refusal = await client.chat.completions
      .create({ model: 'gpt-5', ...asked })
      .catch((error: unknown) => error);
    expect(refusal).to.include({ status: 400, param: 'stop' });
    expect(openai.requests.length).to.equal(before);
  });

  it('the preview of requests names what each upstream is not sent', async () => {
    const { configuration } = gateway.gateway;
    const model = configuration.models.get('either');
    if (!model) throw new Error('There is no model.');
    const body = { messages: MESSAGES, temperature: 0.2, reasoning_effort: 'low', foo: 1 };
    const { ignored, upstreams } = await previewRequests(body, model, configuration);
    expect(ignored).to.deep.equal(['foo']);
    expect(upstreams.map((one) => one.ignored)).to.deep.equal([
      ['temperature'],
      ['reasoning_effort'],
    ]);
  });
});
