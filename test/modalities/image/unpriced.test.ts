import { expect } from 'chai';
import {
  imagesOf,
  refusal,
  startImageGateway,
  type ImageGateway,
} from './helpers/image-gateway.js';

const MODEL = 'owner: acme, capabilities: [image], upstreams: [{ provider: first }]';

const MODELS = `
  quality: { ${MODEL}, price: { per_image: { standard: 0.04, hd: 0.08 } } }
  sizes: { ${MODEL}, price: { per_image: { 1024x1024: 0.04, 4096x4096: 0.40 } } }
  tokens: { ${MODEL}, price: { input_per_million: 5, output_per_million: 40 } }
  free: { ${MODEL}, price: free }
  large: { ${MODEL}, price: { per_image: 0.04 }, limits: { image_pixels: 16777216 } }
  small: { ${MODEL}, price: { per_image: 0.04 }, limits: { image_pixels: 262144 } }
  own:
    owner: acme
    capabilities: [image]
    upstreams: [{ provider: second }, { provider: first, price: { per_image: { 4096x4096: 0.41 } } }]
    price: { per_image: 0.04 }
`;

const GOOD = { model: 'painter', prompt: 'A cat' };

/** [what is wrong, what it changes of a good body, param] */
const WRONG: [string, object, string][] = [
  ['a stream, of which it would deliver nothing', { stream: true }, 'stream'],
  ['a stream that is text', { stream: 'true' }, 'stream'],
  ['partial images, of which it would deliver none', { partial_images: 2 }, 'partial_images'],
  ['64 megapixels at a flat price', { size: '8192x8192' }, 'size'],
  ['one row of pixels too many at a flat price', { size: '2048x1025' }, 'size'],
  ['64 megapixels at a price by quality', { model: 'quality', size: '8192x8192' }, 'size'],
  ['more pixels than the file allows', { model: 'small', size: '1024x1024' }, 'size'],
  ['more pixels than a larger limit', { model: 'large', size: '8192x4096' }, 'size'],
];

/** [what, what it changes of a good body] */
const SOUND: [string, object][] = [
  ['no stream', { stream: false, partial_images: 0 }],
  ['null for a stream', { stream: null, partial_images: null }],
  ['the largest size of a flat price', { size: '2048x1024' }],
  ['a wide size of a flat price', { size: '1792x1024' }],
  ['a tall size of a price by quality', { model: 'quality', size: '1024x1792' }],
  ['a large size with a price of its own', { model: 'sizes', size: '4096x4096' }],
  ['a large size where each token costs', { model: 'tokens', size: '4096x4096' }],
  ['a large size of a free model', { model: 'free', size: '4096x4096' }],
  ['a large size that the file allows', { model: 'large', size: '4096x4096' }],
];

describe('an image request beyond what its price covers', () => {
  let gateway: ImageGateway;
  before(async () => {
    gateway = await startImageGateway({ models: MODELS });
  });
  after(() => gateway.close());
  afterEach(() => gateway.settled());

  for (const [what, body, param] of WRONG) {
    it(`is refused with ${what}, and goes nowhere`, async () => {
      const before = gateway.first.requests.length;
      const answer = await gateway.post({ ...GOOD, ...body });
      expect(refusal(answer)).to.deep.equal([400, 'invalid_request', param]);
      expect(gateway.first.requests).to.have.length(before);
      expect(await gateway.charges()).to.deep.equal([]);
    });
  }

  it('says how many pixels the price covers', async () => {
    const { text } = await gateway.post({ ...GOOD, model: 'small', size: '1024x1024' });
    expect(text).to.include('262144 pixels for small, such as 512x512');
  });

  for (const [what, body] of SOUND) {
    it(`is accepted with ${what}`, async () => {
      const answer = await gateway.post({ ...GOOD, ...body });
      imagesOf(answer);
      expect(answer.headers.has('tollgate-ignored')).to.equal(false);
      expect(gateway.first.requests.at(-1)?.json).not.to.have.any.keys('stream', 'partial_images');
    });
  }

  it('does not leave it to the upstream how dear an image of one price is', async () => {
    const qualityOf = async (body: object): Promise<unknown> => {
      imagesOf(await gateway.post({ ...GOOD, ...body }));
      const { quality } = (gateway.first.requests.at(-1)?.json ?? {}) as { quality?: string };
      return quality;
    };
    expect(await qualityOf({})).to.equal('medium');
    expect(await qualityOf({ model: 'sizes' })).to.equal('medium');
    expect(await qualityOf({ quality: 'hd' })).to.equal('high');
    expect(await qualityOf({ model: 'tokens' })).to.equal(undefined);
    expect(await qualityOf({ model: 'free' })).to.equal(undefined);
  });

  it('goes to the upstream that has a price for its size', async () => {
    imagesOf(await gateway.post({ ...GOOD, model: 'own', size: '4096x4096' }));
    expect(gateway.second.requests).to.have.length(0);
    const charges = await gateway.charges();
    expect(charges.map(({ amount_nano }) => amount_nano)).to.include(-410_000_000n);
  });
});
