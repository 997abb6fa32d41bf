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
        '  graded: { owner: acme, capabilities: [image], upstreams: [{ provider: first }], price: { per_image: { standard: 0.04, hd: 0.08 } } }\n' +
        '  tokens: { owner: acme, capabilities: [image], upstreams: [{ provider: first }], price: { input_per_million: 10, output_per_million: 40 }, limits: { image_tokens: 100 } }\n' +
        '  classed: { owner: acme, capabilities: [image], upstreams: [{ provider: first }], price: { input_per_million: 5, image_input_per_million: 8, output_per_million: 10, image_output_per_million: 30 } }\n' +
        '  older: { owner: acme, capabilities: [image], upstreams: [{ provider: first, model: dall-e-3 }], price: { per_image: 0.04 } }',
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

  it('charges tokens of images at their own price, and keeps them in the ledger', async () => {
    const output_tokens_details = { text_tokens: 5, image_tokens: 35 };
    gallery.paint = () => painted(1, { usage: { ...USAGE, output_tokens_details } });
    await client.images.generate({ model: 'classed', prompt: 'A cat' });
    const charge = (await gallery.charges()).at(-1);
    expect(charge).to.include({
      amount_nano: -(2n * 5_000n + 1n * 8_000n + 5n * 10_000n + 35n * 30_000n),
      image_input_tokens: 1,
      image_output_tokens: 35,
    });
    gallery.paint = () => painted(1, { usage: USAGE, ...WORDS });
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

  const OWN = {
    background: 'transparent',
    output_format: 'webp',
    output_compression: 80,
    moderation: 'low',
  } as const;
  const sent = (): unknown => gallery.first.requests.at(-1)?.json;
  const formFields = (): Record<string, string> => {
    const body = gallery.first.requests.at(-1)?.body ?? '';
    const parts = body.matchAll(/name="(\w+)"\r\n\r\n([^\r]*)/gu);
    return Object.fromEntries([...parts].map(([, name = '', value = '']) => [name, value]));
  };
  const ignored = ({ headers }: Response): string | null => headers.get('tollgate-ignored');

  it('answers in base64 where the client asks for nothing, and in URLs where it does', async () => {
    const plain = await client.images.generate({ model: 'painter', prompt: 'A cup' });
    expect(plain.data?.[0]).to.have.keys('b64_json', 'revised_prompt');
    const asked = { model: 'painter', prompt: 'A cup', response_format: 'url' as const };
    expect((await client.images.generate(asked)).data?.[0]).to.have.keys('url', 'revised_prompt');
    const image = await toFile(PNG, 'cat.png', { type: 'image/png' });
    const edited = await client.images.edit({ model: 'painter', image, prompt: 'A hat' });
    expect(edited.data?.[0]).to.have.keys('b64_json', 'revised_prompt');
    const older = await client.images.generate({ model: 'older', prompt: 'A cup' });
    expect(older.data?.[0]).to.have.keys('url', 'revised_prompt');
  });

  it('sends background, format, compression and moderation on', async () => {
    const asked = { model: 'painter', prompt: 'A cup', quality: 'low' as const, ...OWN };
    const { response } = await client.images.generate(asked).withResponse();
    expect(sent()).to.include({ ...OWN, quality: 'low' });
    expect(ignored(response)).to.equal(null);
    const image = await toFile(PNG, 'cat.png', { type: 'image/png' });
    const { moderation: _, ...forEdits } = OWN;
    const body = { model: 'painter', image, prompt: 'A hat', ...forEdits };
    const edit = await client.images.edit(body).withResponse();
    expect(formFields()).to.include({ ...forEdits, output_compression: '80' });
    expect(ignored(edit.response)).to.equal(null);
  });

  it('keeps the default of /v1, and what it does not know', async () => {
    const { url, secret } = gallery;
    const answer = await fetch(`${url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'painter', prompt: 'A cup', ...OWN }),
    });
    const { data } = (await answer.json()) as { data: object[] };
    expect(data[0]).to.have.keys('url', 'revised_prompt');
    // The manifest passes `output_format` on at every endpoint.
    const unknown = ['background', 'output_compression', 'moderation'];
    expect(ignored(answer)?.split(', ')).to.have.members(unknown);
    expect(sent()).not.to.have.any.keys(...unknown);
  });

  it('holds and charges a high fidelity by its tokens, and leaves it out where none are sold', async () => {
    const image = await toFile(PNG, 'cat.png', { type: 'image/png' });
    const body = { image, prompt: 'A hat', input_fidelity: 'high' as const };
    const usage = { ...USAGE, input_tokens: 6_400, total_tokens: 6_440 };
    gallery.paint = () => painted(1, { usage, ...WORDS });
    const priced = await client.images.edit({ ...body, model: 'tokens' }).withResponse();
    expect(formFields()).to.include({ input_fidelity: 'high' });
    expect(ignored(priced.response)).to.equal(null);
    expect(await lastCharge()).to.equal(-(6_400n * 10_000n + 40n * 40_000n));
    const unpriced = await client.images.edit({ ...body, model: 'painter' }).withResponse();
    expect(formFields()).not.to.have.property('input_fidelity');
    expect(ignored(unpriced.response)).to.equal('input_fidelity');
    expect(await lastCharge()).to.equal(-IMAGE_NANO);
    gallery.paint = () => painted(1, { usage: USAGE, ...WORDS });
  });

  it('refuses values of the wrong type', async () => {
    const asked = { model: 'painter', prompt: 'A cup', output_compression: 101 };
    const error = await client.images.generate(asked).catch((thrown: unknown) => thrown);
    expect(error).to.include({ status: 400, param: 'output_compression' });
  });
});
