import { expect } from 'chai';
import OpenAI, { toFile } from 'openai';
import { PNG } from '../helpers/image-bytes.js';
import {
  IMAGE_NANO,
  painted,
  startImageGateway,
  type ImageGateway,
} from '../helpers/image-gateway.js';

const USAGE = {
  input_tokens: 3,
  input_tokens_details: { text_tokens: 2, image_tokens: 1 },
  output_tokens: 40,
  total_tokens: 43,
};
const WORDS = {
  size: '1024x1024',
  quality: 'medium',
  background: 'opaque',
  output_format: 'png',
};

describe('images at /openai/v1', () => {
  let gallery: ImageGateway;
  let client: OpenAI;
  before(async () => {
    gallery = await startImageGateway({
      models:
        '  graded: { owner: acme, capabilities: [image], upstreams: [{ provider: first }], price: { per_image: { standard: 0.04, hd: 0.08 } } }',
    });
    const { url, secret } = gallery;
    client = new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: secret, maxRetries: 0 });
    gallery.paint = () => painted(1, { usage: USAGE, ...WORDS });
  });
  after(() => gallery.close());
  afterEach(() => gallery.settled());

  const lastCharge = async (): Promise<bigint | undefined> =>
    (await gallery.charges()).at(-1)?.amount_nano;

  it("makes them for OpenAI's own client, with usage in its words", async () => {
    const { data, usage } = await client.images.generate({ model: 'painter', prompt: 'A cat' });
    expect(data).to.have.length(1);
    expect(usage).to.deep.equal(USAGE);
    expect(await lastCharge()).to.equal(-IMAGE_NANO);
  });

  it('tells size, quality, background and format as the upstream told them', async () => {
    const answer = await client.images.generate({ model: 'painter', prompt: 'A cat' });
    expect(answer).to.deep.include(WORDS);
  });

  it('has the details of its input, though the upstream splits it badly or not', async () => {
    for (const input_tokens_details of [undefined, 7, { text_tokens: 9, image_tokens: '?' }]) {
      gallery.paint = () => painted(1, { usage: { ...USAGE, input_tokens_details } });
      const { usage } = await client.images.generate({ model: 'painter', prompt: 'A cat' });
      expect(usage?.input_tokens_details).to.deep.equal({ text_tokens: 3, image_tokens: 0 });
    }
    gallery.paint = () => painted(1, { usage: USAGE, ...WORDS });
  });

  it('names the style, which GPT image models do not take', async () => {
    const asked = { model: 'painter', prompt: 'A cat', style: 'vivid' as const };
    const { response } = await client.images.generate(asked).withResponse();
    expect(response.headers.get('tollgate-ignored')).to.equal('style');
  });

  it('sells low quality at the price of standard where it has none', async () => {
    const asked = { model: 'graded', prompt: 'A cat', quality: 'low' as const };
    await client.images.generate(asked);
    expect(gallery.first.requests.at(-1)?.json).to.include({ quality: 'low' });
    expect(await lastCharge()).to.equal(-IMAGE_NANO);
  });

  it('edits them from a form', async () => {
    const { data, usage } = await client.images.edit({
      model: 'painter',
      image: await toFile(PNG, 'cat.png', { type: 'image/png' }),
      prompt: 'A hat on the cat',
      n: 1,
    });
    expect(data).to.have.length(1);
    expect(usage).to.deep.equal(USAGE);
    expect(await lastCharge()).to.equal(-IMAGE_NANO);
  });
});
