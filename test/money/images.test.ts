import { expect } from 'chai';
import {
  imagesOf,
  painted,
  refusal,
  eachImageGateway,
  startImageGateway,
  type ImageGateway,
} from '../modalities/image/helpers/image-gateway.js';
import { until } from '../helpers/until.js';

const at = (id: string, price: string, upstreams = '{ provider: first }'): string =>
  `  ${id}: { owner: acme, capabilities: [image], upstreams: [${upstreams}], price: ${price} }`;

const MODELS = [
  at('flat', '{ per_image: 0.04 }'),
  at('fine', '{ per_image: 0.000000001 }'),
  at('quality', '{ per_image: { standard: 0.04, hd: 0.08 } }'),
  at('size', '{ per_image: { 1024x1024: 0.04, 512x512: 0.02 } }'),
  at(
    'grid',
    '{ per_image: { low: { 1024x1024: 0.011, 1536x1024: 0.016 }, medium: { 1024x1024: 0.042 }, high: { 1024x1024: 0.167, 1536x1024: 0.25 } } }',
  ),
  at('tokens', '{ input_per_million: 5, output_per_million: 30 }'),
  at('both', '{ per_image: 0.01, input_per_million: 5, output_per_million: 30 }'),
  at('gift', 'free'),
  at(
    'own',
    '{ per_image: 0.04 }',
    '{ provider: first, price: { per_image: 0.03 } }, { provider: second, price: { per_image: { 64x64: 0.50 } } }',
  ),
].join('\n');

const USAGE = { usage: { input_tokens: 10, output_tokens: 1_000 } };

/** [model, what is asked for, how many the upstream makes, cost in nano-dollars] */
const ROWS: [string, { n?: number; size?: string; quality?: string }, number, bigint][] = [
  ['flat', {}, 1, 40_000_000n],
  ['flat', { n: 3 }, 3, 120_000_000n],
  ['flat', { n: 3 }, 2, 80_000_000n],
  ['flat', { n: 2 }, 5, 80_000_000n],
  ['fine', { n: 7 }, 7, 7n],
  ['quality', {}, 1, 40_000_000n],
  ['quality', { quality: 'standard' }, 1, 40_000_000n],
  ['quality', { quality: 'hd', n: 2 }, 2, 160_000_000n],
  ['size', {}, 1, 40_000_000n],
  ['size', { size: '512x512', quality: 'hd' }, 1, 20_000_000n],
  ['tokens', {}, 1, 10n * 5_000n + 1_000n * 30_000n],
  ['both', { n: 2 }, 2, 20_000_000n + 10n * 5_000n + 1_000n * 30_000n],
  ['own', {}, 1, 30_000_000n],
  ['own', { size: '64x64' }, 1, 30_000_000n],
];

/** [what is asked for, what the upstream says it made, nano-dollars held, charged, estimated] */
const CHOICES: [object, object, bigint, bigint, boolean][] = [
  [{}, {}, 42_000_000n, 42_000_000n, false],
  [{ quality: 'low' }, { quality: 'high' }, 11_000_000n, 11_000_000n, false],
  [{ quality: 'hd' }, {}, 167_000_000n, 167_000_000n, false],
  [{ quality: 'auto' }, { quality: 'low' }, 167_000_000n, 11_000_000n, false],
  [{ quality: 'auto' }, { quality: 'auto' }, 167_000_000n, 167_000_000n, true],
  [{ quality: 'auto' }, {}, 167_000_000n, 167_000_000n, true],
  [{ quality: 'auto', n: 2 }, { quality: 'medium' }, 334_000_000n, 84_000_000n, false],
  [{ size: 'auto', quality: 'low' }, { size: '1536x1024' }, 16_000_000n, 16_000_000n, false],
  [{ size: 'auto', quality: 'low' }, { size: '9x9' }, 16_000_000n, 16_000_000n, true],
  [
    { size: 'auto', quality: 'auto' },
    { size: '1024x1024', quality: 'low' },
    250_000_000n,
    11_000_000n,
    false,
  ],
];

describe('the charge for images whose size or quality the upstream may choose', () => {
  let gallery: ImageGateway;
  eachImageGateway(
    (made) => (gallery = made),
    () => gallery,
    { models: MODELS },
  );

  for (const [asked, made, held, nano, estimated] of CHOICES) {
    it(`is ${nano} of ${held} held for ${JSON.stringify(asked)} where it says ${JSON.stringify(made)}`, async () => {
      let held_nano: bigint | undefined;
      gallery.paint = async ({ json }) => {
        held_nano = (await gallery.gateway.store.account(gallery.account.id))?.held_nano;
        return painted((json as { n: number }).n, made);
      };
      const body = { model: 'grid', prompt: 'A cat', response_format: 'b64_json', ...asked };
      imagesOf(await gallery.post(body));
      await gallery.settled();
      expect(held_nano).to.equal(held);
      const [charge] = await gallery.charges();
      expect(charge).to.include({ amount_nano: -nano, estimated });
    });
  }

  it('covers no size that its quality does not list', async () => {
    const body = { model: 'grid', prompt: 'A cat', quality: 'medium', size: '1536x1024' };
    expect(refusal(await gallery.post(body))).to.deep.equal([400, 'invalid_request', 'quality']);
  });
});

describe('the charge for images', () => {
  let gallery: ImageGateway;
  eachImageGateway(
    (made) => (gallery = made),
    () => gallery,
    { models: MODELS },
  );

  const post = (model: string, body: object = {}) =>
    gallery.post({ model, prompt: 'A cat', response_format: 'b64_json', ...body });

  for (const [model, body, made, nano] of ROWS) {
    it(`of ${model} is ${nano} for ${JSON.stringify(body)} where the upstream made ${made}`, async () => {
      gallery.paint = () => painted(made, USAGE);
      imagesOf(await post(model, body));
      await gallery.settled();
      const charges = await gallery.charges();
      expect(charges).to.have.length(1);
      expect(charges[0]).to.include({ amount_nano: -nano, estimated: false, provider: 'first' });
      const usage = JSON.parse(charges[0]?.usage ?? '') as object;
      const images = Math.min(made, body.n ?? 1);
      expect(usage).to.deep.equal({ prompt_tokens: 10, completion_tokens: 1_000, images });
    });
  }

  it('is an estimate where tokens cost and the upstream does not say how many', async () => {
    gallery.paint = () => painted(2);
    const { usage } = imagesOf(await post('tokens', { n: 2 }));
    expect(usage.completion_tokens).to.equal(2_112);
    const [charge] = await gallery.charges();
    expect(charge).to.include({ estimated: true });
    expect(charge?.amount_nano).to.equal(-BigInt(usage.prompt_tokens * 5_000 + 2_112 * 30_000));
  });

  it('is absent for a free model, even with no balance', async () => {
    const poor = await startImageGateway({ models: MODELS, credit: '0' });
    try {
      imagesOf(await poor.post({ model: 'gift', prompt: 'A cat' }));
      expect(await poor.charges()).to.deep.equal([]);
    } finally {
      await poor.close();
    }
  });

  it('is held at its max cost, at the dearest upstream price, during the call', async () => {
    let open = (): void => undefined;
    const hold = new Promise<void>((resolve) => (open = resolve));
    gallery.paint = () => ({ ...painted(2), hold });
    const asking = post('own', { n: 2, size: '64x64' });
    await until(() => gallery.first.requests.length === 1, 'the upstream was asked');
    const account = await gallery.gateway.store.account(gallery.account.id);
    expect(account?.held_nano).to.equal(1_000_000_000n);
    open();
    imagesOf(await asking);
  });

  it('is in the ledger before the client gets the answer', async () => {
    imagesOf(await post('flat'));
    expect(await gallery.charges()).to.have.length(1);
  });

  it('is one for each answer of many at once, and no more than the balance pays', async () => {
    const few = await startImageGateway({ models: MODELS, credit: '0.20' });
    try {
      const answers = await Promise.all(
        Array.from({ length: 12 }, () =>
          few.post({ model: 'flat', prompt: 'A cat', response_format: 'b64_json' }),
        ),
      );
      const paid = answers.filter(({ status }) => status === 200);
      expect(paid.length).to.be.within(1, 5);
      for (const answer of answers) {
        if (answer.status !== 200) expect(refusal(answer)[1]).to.equal('insufficient_balance');
      }
      await few.settled();
      expect(await few.charges()).to.have.length(paid.length);
      expect(few.first.requests).to.have.length(paid.length);
    } finally {
      await few.close();
    }
  });

  it('is made later where the store fails, and the client gets the image', async () => {
    const { store } = gallery.gateway;
    const charge = store.charge.bind(store);
    store.charge = () => Promise.reject(new Error('The disk is full.'));
    const answer = await post('flat');
    store.charge = charge;
    expect(answer.status).to.equal(200);
    await gallery.settled();
    expect(await gallery.charges()).to.have.length(1);
  });

  it('is not made for images that could not be stored', async () => {
    const { images } = gallery.gateway.store;
    const keep = images.keep.bind(images);
    images.keep = () => Promise.reject(new Error('The disk is full.'));
    const answer = await post('flat', { response_format: 'url' });
    images.keep = keep;
    expect(refusal(answer)).to.deep.equal([500, 'internal_error', null]);
    await gallery.settled();
    expect(await gallery.charges()).to.deep.equal([]);
  });
});
