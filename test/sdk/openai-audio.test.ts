import { expect } from 'chai';
import OpenAI from 'openai';
import { startGateway, type TestGateway } from '../helpers/gateway.js';

const SIMULATED = 'owner: acme, upstreams: [{ provider: simulator }]';

describe('the openai package, with sound', () => {
  let gateway: TestGateway;
  let client: OpenAI;

  before(async () => {
    gateway = await startGateway(
      `owners: { acme: { name: Acme } }
providers: { simulator: {} }
models:
  voice: { ${SIMULATED}, capabilities: [speech], price: { per_million_characters: 15 } }
`,
      { credit: '1' },
    );
    const { url, secret } = gateway;
    client = new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0 });
  });
  after(() => gateway.close());

  it('gets speech as bytes', async () => {
    const answer = await client.audio.speech.create({
      model: 'voice',
      voice: 'alloy',
      input: 'The toll is paid.',
      response_format: 'wav',
    });
    expect(answer.headers.get('content-type')).to.equal('audio/wav');
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.readUInt32LE(4)).to.equal(bytes.length - 8);
  });

  it('throws its own error where the speech that it wants cannot be made', async () => {
    const error: unknown = await client.audio.speech
      .create({ model: 'voice', voice: 'alloy', input: 'x', response_format: 'opus' })
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(OpenAI.BadRequestError);
  });
});
