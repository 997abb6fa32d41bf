import { expect } from 'chai';
import { isRecord } from '../../../src/lib/objects.js';
import { readPng, type Png } from '../../helpers/png.js';
import { askSimulator } from '../../helpers/simulator.js';

const PATH = '/images/generations';

async function generate(body: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { status, json } = await askSimulator('POST', PATH, { body: { prompt: 'a cat', ...body } });
  expect(status).to.equal(200);
  return json;
}

function imagesIn(json: Record<string, unknown>): Buffer[] {
  const data = Array.isArray(json.data) ? json.data : [];
  return data.map((item: unknown) => {
    const base64 = isRecord(item) ? item.b64_json : undefined;
    expect(base64)
      .to.be.a('string')
      .and.match(/^[A-Za-z0-9+/]+=*$/u);
    return Buffer.from(String(base64), 'base64');
  });
}

async function one(body: Record<string, unknown>): Promise<Buffer> {
  const [image, ...more] = imagesIn(await generate(body));
  expect(more).to.deep.equal([]);
  return image ?? Buffer.alloc(0);
}

describe("the simulator's images", () => {
  it('are PNGs of 1024x1024 where nothing is said, and small', async () => {
    const image = await one({});
    expect(image.length).to.be.below(60_000);
    expect(readPng(image)).to.include({ width: 1024, height: 1024 });
  });

  for (const [width, height] of [
    [1, 1],
    [256, 256],
    [1792, 1024],
    [33, 700],
  ]) {
    it(`are exactly ${width}x${height} where that is asked for`, async () => {
      const json = await generate({ size: `${width}x${height}` });
      expect(json).to.include({ size: `${width}x${height}`, output_format: 'png' });
      const [image] = imagesIn(json).map(readPng);
      expect(image).to.include({ width, height });
    });
  }

  it('use many colours of their palette, and no others', async () => {
    const { pixels, colours }: Png = readPng(await one({}));
    const used = new Set(pixels);
    expect(Math.max(...used)).to.be.below(colours);
    expect(used.size).to.be.above(30);
  });

  it('are the same for the same prompt, and others for others', async () => {
    const image = await one({});
    expect((await one({})).equals(image)).to.equal(true);
    expect((await one({ prompt: 'a dog' })).equals(image)).to.equal(false);
  });

  it('are as many as asked for, each another one', async () => {
    const images = imagesIn(await generate({ n: 10, size: '64x64' }));
    expect(new Set(images.map((image) => image.toString('hex'))).size).to.equal(10);
  });

  it('are billed in tokens by their number, size and quality', async () => {
    const usageOf = async (body: object) => (await generate({ ...body })).usage;
    expect(await usageOf({})).to.deep.equal({
      input_tokens: 2,
      input_tokens_details: { text_tokens: 2, image_tokens: 0 },
      output_tokens: 1056,
      total_tokens: 1058,
    });
    expect(await usageOf({ n: 2, size: '512x1024' })).to.include({ output_tokens: 1056 });
    expect(await usageOf({ quality: 'hd' })).to.include({ output_tokens: 4160 });
  });

  for (const [field, value] of [
    ['prompt', ''],
    ['prompt', 7],
    ['n', 0],
    ['n', 11],
    ['n', 1.5],
    ['n', '2'],
    ['size', '4097x1'],
    ['size', '0x64'],
    ['size', 'large'],
    ['size', '64x64x64'],
  ] as const) {
    it(`are refused for ${field} ${JSON.stringify(value)}`, async () => {
      const body = { prompt: 'a cat', [field]: value };
      const { status, json } = await askSimulator('POST', PATH, { body });
      expect(status).to.equal(400);
      expect(json.error).to.include({ param: field, type: 'invalid_request_error' });
    });
  }

  it('are refused as against the rules in a drill', async () => {
    const body = { prompt: 'a cat [fail]' };
    const { status, json } = await askSimulator('POST', PATH, { body });
    expect(status).to.equal(400);
    expect(json.error).to.include({ code: 'moderation_blocked' });
  });

  it('fail by the settings of the provider', async () => {
    const body = { prompt: 'a cat', size: '8x8' };
    const limited = await askSimulator('POST', PATH, { body, settings: { fail: '429' } });
    expect(limited.status).to.equal(429);
    const cut = askSimulator('POST', PATH, { body, settings: { fail: 'cut' } });
    expect(await cut.catch(String)).to.match(/cut/u);
  });
});
