import { expect } from 'chai';
import OpenAI, { toFile } from 'openai';
import { PNG } from '../helpers/image-bytes.js';
import {
  IMAGE_NANO,
  painted,
  startImageGateway,
  type ImageGateway,
} from '../helpers/image-gateway.js';

const USAGE = { input_tokens: 3, output_tokens: 40, total_tokens: 43 };

describe('images at /openai/v1', () => {
  let gallery: ImageGateway;
  let client: OpenAI;
  before(async () => {
    gallery = await startImageGateway({});
    const { url, secret } = gallery;
    client = new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: secret, maxRetries: 0 });
    gallery.paint = () => painted(1, { usage: USAGE });
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
