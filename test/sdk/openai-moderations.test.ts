import { expect } from 'chai';
import OpenAI from 'openai';
import { startGateway, type TestGateway } from '../helpers/gateway.js';

const MODEL = 'owner: acme, capabilities: [moderation], upstreams: [{ provider: simulator }]';

describe('the openai package, moderating', () => {
  let gateway: TestGateway;
  let client: OpenAI;

  before(async () => {
    gateway = await startGateway(`owners: { acme: { name: Acme } }
providers: { simulator: {} }
models:
  omni-moderation-latest: { ${MODEL}, price: free }
`);
    const { url, secret } = gateway;
    client = new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0 });
  });
  after(() => gateway.close());

  it('learns what is flagged, without naming a model', async () => {
    const { results, model } = await client.moderations.create({ input: ['Hello', '[flag]'] });
    expect(results.map(({ flagged }) => flagged)).to.deep.equal([false, true]);
    expect(results[1]?.categories.violence).to.equal(true);
    expect(model).to.equal('omni-moderation-latest');
  });

  it('sends texts and images to be judged together', async () => {
    const { results } = await client.moderations.create({
      model: 'omni-moderation-latest',
      input: [
        { type: 'text', text: 'Hello' },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      ],
    });
    expect(results).to.have.length(1);
  });
});
