import { expect } from 'chai';
import OpenAI from 'openai';
import { startEmbedder, type Embedder } from '../modalities/embedding/helpers.js';

describe('the openai package, making embeddings', () => {
  let embedder: Embedder;
  let client: OpenAI;

  before(async () => {
    embedder = await startEmbedder();
    const { url, secret } = embedder;
    client = new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0 });
  });
  after(() => embedder.close());

  it('gets numbers by way of the base64 that it asks for', async () => {
    const { data, usage, model } = await client.embeddings.create({
      model: 'sim',
      input: ['a', 'b'],
    });
    expect(data.map(({ embedding }) => embedding.length)).to.deep.equal([256, 256]);
    expect(Math.hypot(...(data[0]?.embedding ?? []))).to.be.closeTo(1, 1e-6);
    expect([usage.total_tokens, model]).to.deep.equal([2, 'sim']);
  });

  it('gets the same numbers as floats', async () => {
    const call = { model: 'sim', input: [1, 2, 3], dimensions: 8 };
    const packed = await client.embeddings.create(call);
    const floats = await client.embeddings.create({ ...call, encoding_format: 'float' });
    expect(packed.data).to.deep.equal(floats.data);
    expect(floats.data[0]?.embedding).to.have.length(8);
  });

  it('throws its own error for a refusal', async () => {
    const error: unknown = await client.embeddings
      .create({ model: 'talk', input: 'a' })
      .catch((reason: unknown) => reason);
    expect(error).to.include({ status: 400, code: 'unsupported_capability', param: 'model' });
  });
});
