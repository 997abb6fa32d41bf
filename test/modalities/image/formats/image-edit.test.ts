import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import OpenAI, { toFile } from 'openai';
import { ask, type Answer } from '../../../helpers/ask.js';
import type { Received } from '../../../helpers/upstream.js';
import { JPEG, PAGE, PNG, WEBP } from '../helpers/image-bytes.js';
import {
  imagesOf,
  json,
  painted,
  refusal,
  startImageGateway,
  type ImageGateway,
} from '../helpers/image-gateway.js';

const UPSTREAMS = 'owner: acme, capabilities: [image], upstreams';
const MODELS = `
  sim: { ${UPSTREAMS}: [{ provider: simulator }], price: free }
  mixed: { ${UPSTREAMS}: [{ provider: single }, { provider: first }], price: { per_image: 0.04 } }
  tokens: { ${UPSTREAMS}: [{ provider: first }], limits: { image_tokens: 1000, max_tokens: 2000 }, price: { input_per_million: 10, output_per_million: 40 } }
`;

/** The parts of a form as the upstream received them, files as their bytes in base64. */
async function partsOf({ bytes, headers }: Received): Promise<[string, string][]> {
  const type = headers['content-type'] ?? '';
  const response = new Response(new Uint8Array(bytes), { headers: { 'content-type': type } });
  const parts: [string, string][] = [];
  for (const [name, value] of await response.formData()) {
    if (typeof value === 'string') parts.push([name, value]);
    else {
      const data = Buffer.from(await value.arrayBuffer()).toString('base64');
      parts.push([name, `${value.type} ${value.name} ${data}`]);
    }
  }
  return parts;
}

const blob = (bytes: Buffer, type = 'application/octet-stream'): Blob =>
  new Blob([new Uint8Array(bytes)], { type });
const dataUrl = (bytes: Buffer, type = 'image/png'): string =>
  `data:${type};base64,${bytes.toString('base64')}`;
const base64 = (bytes: Buffer): string => bytes.toString('base64');

/** A good form; `more` adds parts, or takes away those that it gives as null. */
function form(more: Record<string, string | Blob | (string | Blob)[] | null> = {}): FormData {
  const result = new FormData();
  const parts = { model: 'painter', prompt: 'A hat on the cat', image: blob(PNG), ...more };
  for (const [name, values] of Object.entries(parts)) {
    for (const value of [values].flat()) if (value !== null) result.append(name, value);
  }
  return result;
}

describe('an image edit', () => {
  let gallery: ImageGateway;
  before(async () => {
    gallery = await startImageGateway({ models: MODELS, settings: 'limits: { body: 600kb }' });
  });
  after(() => gallery.close());
  beforeEach(() => {
    gallery.paint = () => undefined;
    gallery.first.requests.length = 0;
    gallery.second.requests.length = 0;
  });
  afterEach(() => gallery.settled());

  const edit = (body: FormData | string, headers: Record<string, string> = {}): Promise<Answer> =>
    ask(gallery, '/v1/images/edits', { method: 'POST', headers, body });
  const editJson = (body: object): Promise<Answer> =>
    edit(JSON.stringify(body), { 'content-type': 'application/json' });
  const received = (): Received => {
    const last = gallery.first.requests.at(-1);
    if (!last) throw new Error('The upstream was not asked.');
    return last;
  };

  it('goes through the openai package with several images and a mask, byte for byte', async () => {
    gallery.paint = () => painted(2);
    const { url, secret } = gallery;
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0 });
    const before = (await gallery.charges()).length;
    const { data } = await client.images.edit({
      model: 'painter',
      image: [await toFile(PNG, 'cat.png'), await toFile(JPEG, 'hat.jpg', { type: 'image/jpeg' })],
      mask: await toFile(PNG, 'mask.png', { type: 'image/png' }),
      prompt: 'A hat on the cat, "größer"',
      n: 2,
      size: '1024x1024',
      quality: 'low',
    });
    expect(data).to.have.length(2);
    expect(received().path).to.equal('/images/edits');
    expect(received().headers['content-type']).to.match(/^multipart\/form-data; ?boundary=/u);
    expect(received().headers.authorization).to.match(/^Bearer sk-/u);
    expect(await partsOf(received())).to.have.deep.members([
      ['model', 'p-1'],
      ['prompt', 'A hat on the cat, "größer"'],
      ['n', '2'],
      ['size', '1024x1024'],
      ['quality', 'low'],
      ['image[]', `image/png image.png ${base64(PNG)}`],
      ['image[]', `image/jpeg image.jpeg ${base64(JPEG)}`],
      ['mask', `image/png mask.png ${base64(PNG)}`],
    ]);
    const charges = (await gallery.charges()).slice(before);
    expect(charges.map(({ amount_nano }) => amount_nano)).to.deep.equal([-80_000_000n]);
  });

  it('sends one image under its plain name, typed by its bytes, whatever the client says', async () => {
    imagesOf(await edit(form({ image: blob(WEBP, 'text/html') })));
    const parts = await partsOf(received());
    const image = parts.find(([name]) => name === 'image')?.[1];
    expect(image).to.equal(`image/webp image.webp ${base64(WEBP)}`);
  });

  it('may come as JSON with data URLs', async () => {
    const body = { model: 'painter', prompt: 'A hat', image: [dataUrl(PNG)], n: 1 };
    imagesOf(await editJson(body));
    expect((await partsOf(received())).map(([name]) => name)).to.include.members(['image', 'n']);
  });

  it('has a prompt that looks like a file sent as text', async () => {
    const prompt = dataUrl(JPEG);
    imagesOf(await edit(form({ prompt })));
    expect(await partsOf(received())).to.deep.include(['prompt', prompt]);
  });

  it('takes up what the model passes through, and names the rest', async () => {
    const answer = await edit(form({ output_format: 'webp', input_fidelity: 'high' }));
    imagesOf(answer);
    expect(answer.headers.get('tollgate-ignored')).to.equal('input_fidelity');
    const parts = await partsOf(received());
    expect(parts).to.deep.include(['output_format', 'webp']);
    expect(parts.map(([name]) => name)).not.to.include('input_fidelity');
  });

  it('goes with the same files to the next upstream where the first fails', async () => {
    gallery.paintSecond = () => json(500, {});
    imagesOf(await edit(form({ model: 'spare' })));
    const [first] = await Promise.all(gallery.second.requests.map(partsOf));
    expect(await partsOf(received())).to.deep.equal(first);
  });

  it('goes only to upstreams that edit', async () => {
    imagesOf(await edit(form({ model: 'mixed' })));
    expect(gallery.first.requests.map(({ path }) => path)).to.deep.equal(['/images/edits']);
  });

  it('holds the tokens of its images and charges those that the upstream counted', async () => {
    let held: bigint | undefined;
    gallery.paint = async () => {
      held = (await gallery.gateway.store.account(gallery.account.id))?.held_nano;
      return painted(1, { usage: { input_tokens: 300, output_tokens: 1_000 } });
    };
    const prompt = 'A hat';
    imagesOf(await edit(form({ model: 'tokens', prompt, image: [blob(PNG), blob(PNG)] })));
    // 64 around the prompt, its 5 bytes, 2 of `{}`, 1,000 for each image; 2,000 of output.
    expect(held).to.equal(BigInt((64 + 5 + 2 + 2_000) * 10_000 + 2_000 * 40_000));
    await gallery.settled();
    const charge = (await gallery.charges()).find(({ model }) => model === 'tokens');
    expect(charge?.amount_nano).to.equal(-BigInt(300 * 10_000 + 1_000 * 40_000));
  });

  it('is made by the simulator', async () => {
    const { data } = imagesOf(await edit(form({ model: 'sim', response_format: 'b64_json' })));
    expect(data).to.have.length(1);
  });

  it('is made and charged once under one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': randomBytes(8).toString('hex') };
    const first = await edit(form({ n: '2' }), headers);
    const again = await edit(form({ n: '2' }), headers);
    expect(again.text).to.equal(first.text);
    expect(gallery.first.requests).to.have.length(1);
    const other = await edit(form({ n: '2', image: blob(JPEG) }), headers);
    expect(refusal(other)[1]).to.equal('idempotency_key_reused');
  });

  const many = Array.from({ length: 17 }, () => blob(PNG));
  const fields = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`f${at}`, 'x']));
  const WRONG: [string, FormData, string | null, string?][] = [
    ['no image', form({ image: null }), 'image'],
    ['an image that is text', form({ image: 'cat.png' }), 'image'],
    ['an image that is an address', form({ image: 'https://example.com/cat.png' }), 'image'],
    ['an image that is a page', form({ image: blob(PAGE, 'image/png') }), 'image'],
    ['a second image that is a page', form({ image: [blob(PNG), blob(PAGE)] }), 'image[1]'],
    ['an empty file', form({ image: blob(Buffer.alloc(0), 'image/png') }), 'image'],
    ['too many images', form({ image: many }), 'image'],
    ['a mask that is a page', form({ mask: blob(PAGE) }), 'mask'],
    ['two masks', form({ mask: [blob(PNG), blob(PNG)] }), 'mask'],
    ['no prompt', form({ prompt: null }), 'prompt'],
    ['a prompt that is a list', form({ prompt: ['A hat', 'A coat'] }), 'prompt'],
    ['n that is a word', form({ n: 'two' }), 'n'],
    ['n that is empty', form({ n: '' }), 'n'],
    ['half an image', form({ n: '1.5' }), 'n'],
    ['no image asked for', form({ n: '0' }), 'n'],
    ['a stream', form({ stream: 'true' }), 'stream'],
    ['an unknown quality', form({ quality: 'ultra' }), 'quality'],
    ['an unknown model', form({ model: 'nobody' }), 'model', 'model_not_found'],
    ['a model that does not edit', form({ model: 'single' }), 'model', 'unsupported_capability'],
    ['too many fields', form(fields), null],
    ['a field that is too long', form({ user: 'x'.repeat(300_000) }), null],
    [
      'more bytes than are taken',
      form({ image: blob(Buffer.alloc(700_000)) }),
      null,
      'body_too_large',
    ],
  ];
  for (const [what, body, param, code = 'invalid_request'] of WRONG) {
    it(`is refused with ${what}, and goes nowhere`, async () => {
      const answer = await edit(body);
      const status = code === 'body_too_large' ? 413 : 400;
      expect(refusal(answer)).to.deep.equal([status, code, param]);
      expect(gallery.first.requests).to.deep.equal([]);
    });
  }

  it('is refused where its form is cut off, has no boundary or is no form', async () => {
    const type = 'multipart/form-data; boundary=b';
    const part = '--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nA hat';
    const bodies: [string, string][] = [
      [type, part],
      [type, ''],
      [type, '{"model":"painter"}'],
      ['multipart/form-data', `${part}\r\n--b--\r\n`],
      ['text/plain', part],
    ];
    for (const [contentType, body] of bodies) {
      const answer = await edit(body, { 'content-type': contentType });
      expect(refusal(answer).slice(0, 2), body).to.deep.equal([400, 'invalid_request']);
    }
  });

  it('is refused as a form where images are generated', async () => {
    const init = { method: 'POST', body: form() };
    const answer = await ask(gallery, '/v1/images/generations', init);
    expect(refusal(answer)).to.deep.equal([400, 'invalid_request', null]);
  });

  it('keeps names of a prototype apart', async () => {
    imagesOf(await edit(form({ __proto__x: 'a', constructor: 'b', ['__proto__']: 'c' })));
    expect(({} as Record<string, unknown>)['0']).to.equal(undefined);
  });
});
