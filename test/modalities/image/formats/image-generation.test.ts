import { expect } from 'chai';
import {
  imagesOf,
  refusal,
  startImageGateway,
  type ImageGateway,
} from '../helpers/image-gateway.js';

const MODELS = `
  few: { owner: acme, capabilities: [image], upstreams: [{ provider: first }], price: free, limits: { images: 2 } }
  many: { owner: acme, capabilities: [image], upstreams: [{ provider: first }], price: free, limits: { images: 12 } }
  quality: { owner: acme, capabilities: [image], upstreams: [{ provider: first }], price: { per_image: { hd: 0.08 } } }
  sizes: { owner: acme, capabilities: [image], upstreams: [{ provider: first }], price: { per_image: { 512x512: 0.02, 256x256: 0.01 } } }
`;

const GOOD = { model: 'painter', prompt: 'A cat' };

/** [what is wrong, the body or what it changes of a good one, param, code] */
const WRONG: [string, unknown, string | null, string?][] = [
  ['no JSON', '{', null],
  ['a list', '[]', null],
  ['no model', { model: undefined }, 'model'],
  ['a model that is a number', { model: 1 }, 'model'],
  ['an unknown model', { model: 'nobody' }, 'model', 'model_not_found'],
  ['a model that only talks', { model: 'talk' }, 'model', 'unsupported_capability'],
  ['no prompt', { prompt: undefined }, 'prompt'],
  ['an empty prompt', { prompt: '' }, 'prompt'],
  ['a blank prompt', { prompt: ' \n' }, 'prompt'],
  ['a prompt that is a list', { prompt: ['A cat'] }, 'prompt'],
  ['a prompt that is too long', { prompt: 'x'.repeat(32_001) }, 'prompt'],
  ['no image', { n: 0 }, 'n'],
  ['fewer images than none', { n: -1 }, 'n'],
  ['half an image', { n: 1.5 }, 'n'],
  ['n that is text', { n: '1' }, 'n'],
  ['more images than usual', { n: 11 }, 'n'],
  ['more images than the model makes', { model: 'few', n: 3 }, 'n'],
  ['more images than any model makes', { model: 'many', n: 65 }, 'n'],
  ['a size that is a word', { size: 'large' }, 'size'],
  ['a size that is a number', { size: 1024 }, 'size'],
  ['half a size', { size: '1024x' }, 'size'],
  ['a size with a sign', { size: '-1024x1024' }, 'size'],
  ['a size with zeros before it', { size: '01024x1024' }, 'size'],
  ['a size with a line break', { size: '1024x1024\n' }, 'size'],
  ['a size that is tiny', { size: '15x1024' }, 'size'],
  ['a size that is huge', { size: '1024x8193' }, 'size'],
  ['an unknown quality', { quality: 'ultra' }, 'quality'],
  ['an unknown response_format', { response_format: 'png' }, 'response_format'],
  ['an unknown style', { style: 'cubist' }, 'style'],
  ['a quality without a price', { model: 'quality', quality: 'standard' }, 'quality'],
  ['no quality where only one has a price', { model: 'quality' }, 'quality'],
  ['a size without a price', { model: 'sizes', size: '1024x1024' }, 'size'],
];

describe('an image request', () => {
  let gateway: ImageGateway;
  before(async () => {
    gateway = await startImageGateway({ models: MODELS });
  });
  after(() => gateway.close());
  afterEach(() => gateway.settled());

  const lastBody = (): Record<string, unknown> =>
    gateway.first.requests.at(-1)?.json as Record<string, unknown>;

  for (const [what, body, param, code = 'invalid_request'] of WRONG) {
    it(`is refused with ${what}, and goes nowhere`, async () => {
      const before = gateway.first.requests.length;
      const sent = typeof body === 'string' ? body : { ...GOOD, ...(body as object) };
      expect(refusal(await gateway.post(sent))).to.deep.equal([400, code, param]);
      expect(gateway.first.requests).to.have.length(before);
      expect(await gateway.charges()).to.deep.equal([]);
    });
  }

  it('reaches the upstream with its fields and credentials', async () => {
    const asked = {
      prompt: 'Ein Hund',
      n: 3,
      size: '640x480',
      quality: 'hd',
      output_format: 'webp',
    };
    const answer = await gateway.post({ ...GOOD, model: 'few', ...asked, n: 2 });
    imagesOf(answer);
    expect(answer.headers.has('tollgate-ignored')).to.equal(false);
    const received = gateway.first.requests.at(-1);
    expect(received?.path).to.equal('/images/generations');
    expect(received?.headers.authorization).to.equal('Bearer sk-upstream-0123456789abcdef');
    expect(lastBody()).to.include({ model: 'few', prompt: 'Ein Hund', n: 2, size: '640x480' });
    expect(lastBody()).to.include({ quality: 'high', output_format: 'webp' });
  });

  it('is as if a field were absent where that is null', async () => {
    const fields = ['n', 'size', 'quality', 'response_format', 'style', 'stream', 'partial_images'];
    for (const field of [...fields, 'background', 'user', 'watermark']) {
      const answer = await gateway.post({ ...GOOD, model: 'few', [field]: null });
      imagesOf(answer);
      expect(answer.headers.get('tollgate-ignored'), field).to.equal(null);
      expect(Object.values(lastBody()), field).not.to.include(null);
    }
  });

  it('has other fields left out and named', async () => {
    const others = { user: 'me', watermark: true, 'odd name\n': 1 };
    const answer = await gateway.post({ ...GOOD, model: 'few', ...others });
    imagesOf(answer);
    expect(answer.headers.get('tollgate-ignored')).to.equal('user, watermark, odd?name?');
    expect(lastBody()).not.to.have.any.keys('user', 'watermark');
  });

  it('may ask for as many as the file allows, with the longest prompt', async () => {
    const prompt = '🐈'.repeat(16_000) + 'x'.repeat(16_000);
    const { data } = imagesOf(await gateway.post({ model: 'many', prompt, n: 12 }));
    expect(data).to.have.length(12);
    const counts = gateway.first.requests.slice(-2).map(({ json }) => (json as { n: number }).n);
    expect(counts).to.have.members([10, 2]);
  });

  it('says to the upstream what its price goes by', async () => {
    imagesOf(await gateway.post({ ...GOOD, model: 'sizes' }));
    expect(lastBody().size).to.equal('512x512');
    imagesOf(await gateway.post({ ...GOOD, model: 'sizes', size: '256x256' }));
    expect(lastBody().size).to.equal('256x256');
    const charges = await gateway.charges();
    expect(charges.map(({ amount_nano }) => amount_nano)).to.deep.equal([
      -20_000_000n,
      -10_000_000n,
    ]);
  });

  it('is refused without a key before anything else', async () => {
    const answer = await gateway.post('{', { authorization: 'Bearer tg-nobody' });
    expect(refusal(answer)).to.deep.equal([401, 'invalid_api_key', null]);
  });

  it('is refused where the account has too little', async () => {
    const poor = await startImageGateway({ credit: '0.07' });
    try {
      expect(refusal(await poor.post({ ...GOOD, n: 2 }))).to.deep.equal([
        402,
        'insufficient_balance',
        null,
      ]);
      expect(poor.first.requests).to.deep.equal([]);
      imagesOf(await poor.post(GOOD));
    } finally {
      await poor.close();
    }
  });
});
