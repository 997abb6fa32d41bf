import { expect } from 'chai';
import { chat, completionOf } from '../../helpers/ask.js';
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
  many:
    owner: g
    capabilities: [chat]
    upstreams: [{ provider: gemini, model: gemini-2.5-flash }]
    price: { input_per_million: 1, output_per_million: 2 }
`);
  });
  afterEach(async () => {
    await gateway.close();
    await google.close();
  });

  const sent = () => google.requests.map(({ json }) => json as GeminiBody);

  it('asks as often as answers are wanted, one at a time', async () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const answered = await chat(gateway, { model: 'many', messages, n: 2, max_tokens: 9 });
    const { choices, usage } = completionOf(answered);
    expect(choices.map(({ index }) => index)).to.deep.equal([0, 1]);
    expect([sent().length, usage.total_tokens]).to.deep.equal([2, 12]);
    for (const { generationConfig } of sent()) {
      expect(generationConfig).to.deep.equal({ maxOutputTokens: 9 });
    }
  });
});
