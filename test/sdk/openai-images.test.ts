import { expect } from 'chai';
import OpenAI, { APIError, BadRequestError } from 'openai';
import {
  startImageGateway,
  refused,
  type ImageGateway,
} from '../modalities/image/helpers/image-gateway.js';
import { PNG } from '../modalities/image/helpers/image-bytes.js';

describe('the openai package, making images', () => {
  let gallery: ImageGateway;
  let client: OpenAI;

  before(async () => {
    gallery = await startImageGateway({
      models:
        '  sim: { owner: acme, capabilities: [image], upstreams: [{ provider: simulator }], price: { per_image: { standard: 0.04, hd: 0.08 } } }',
    });
    const { url, secret } = gallery;
    client = new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0 });
  });
  after(() => gallery.close());

  it('gets base64', async () => {
    const { data, usage, created } = await client.images.generate({
      model: 'painter',
      prompt: 'A cat',
      n: 2,
      size: '1024x1024',
      quality: 'hd',
      style: 'vivid',
      response_format: 'b64_json',
    });
    expect(data?.map(({ b64_json }) => b64_json)).to.deep.equal(
      [PNG, PNG].map((bytes) => bytes.toString('base64')),
    );
    expect(data?.[0]?.revised_prompt).to.equal('A cat');
    expect(usage?.total_tokens).to.equal(0);
    expect(created).to.equal(1_800_000_000);
  });

  it('gets a URL that any browser can open', async () => {
    const { data } = await client.images.generate({
      model: 'sim',
      prompt: 'A dog',
      size: '256x256',
    });
    const { pathname } = new URL(data?.[0]?.url ?? '');
    const response = await fetch(new URL(pathname, gallery.url));
    expect(response.headers.get('content-type')).to.equal('image/png');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).to.deep.equal([256, 256]);
  });

  it('throws its own error for a refusal', async () => {
    gallery.paint = () => refused('Against the rules.');
    const error: unknown = await client.images
      .generate({ model: 'painter', prompt: 'Something bad' })
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(BadRequestError);
    expect(error).to.include({ code: 'content_policy_violation' });
    expect((error as APIError).message).to.include('Against the rules.');
  });
});
