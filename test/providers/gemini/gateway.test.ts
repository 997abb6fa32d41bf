import { expect } from 'chai';
import { chat, completionOf, errorOf } from '../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { answer, type GeminiBody } from '../../helpers/gemini.js';
import { startUpstream, type FakeUpstream } from '../../helpers/upstream.js';

describe('a gateway that asks Gemini', () => {
  let google: FakeUpstream;
  let gateway: TestGateway;
  beforeEach(async () => {
    const headers = { 'content-type': 'application/json' };
    google = await startUpstream({ headers, body: JSON.stringify(answer([{ text: 'Hi' }])) });
    gateway = await startGateway(`owners: { g: { name: G } }
providers: { gemini: { api_key: AIza-test-0123456789, base_url: "${google.url}" } }
models:
  eyes:
    owner: g
    capabilities: [chat, vision]
    upstreams: [{ provider: gemini, model: gemini-2.5-flash }]
    price: { input_per_million: 1, output_per_million: 2 }
`);
  });
  afterEach(async () => {
    await gateway.close();
    await google.close();
  });

  const sent = () => google.requests.map(({ json }) => json as GeminiBody);

  it('would fetch the images of a prompt, which the upstream does not (quirk 22)', async () => {
    const image_url = { url: 'http://127.0.0.1:1/cat.png' };
    const content = [{ type: 'image_url', image_url }];
    const messages = [{ role: 'user', content }];
    const answered = await chat(gateway, { model: 'eyes', messages, max_tokens: 9 });
    expect(answered.status).to.equal(400);
    expect(errorOf(answered).message).to.include('not public');
    expect(sent()).to.deep.equal([]);
  });

  it('names what the wire cannot say in the header tollgate-ignored', async () => {
    const messages = [{ role: 'user', name: 'Ann', content: 'Hi' }];
    const answered = await chat(gateway, { model: 'eyes', messages, user: 'u', max_tokens: 9 });
    const ignored = answered.headers.get('tollgate-ignored')?.split(', ');
    expect(ignored).to.have.members(['user', 'messages[].name']);
  });

  it('asks as often as answers are wanted, one at a time', async () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const answered = await chat(gateway, { model: 'eyes', messages, n: 2, max_tokens: 9 });
    const { choices, usage } = completionOf(answered);
    expect(choices.map(({ index }) => index)).to.deep.equal([0, 1]);
    expect([sent().length, usage.total_tokens]).to.deep.equal([2, 12]);
    for (const { generationConfig } of sent()) {
      expect(generationConfig).to.deep.equal({ maxOutputTokens: 9 });
    }
  });
});
