import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from '../../../src/config/load.js';
import { MODALITIES } from '../../../src/modalities/index.js';

/** The nano-dollars of each kind of second that such a price gives. */
async function pricesOf(price: string): Promise<Record<string, bigint>> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-prices-'));
  try {
    const file = join(folder, 'gateway.yaml');
    const model = `owner: o, capabilities: [video], upstreams: [{ provider: simulator }]`;
    const text = `owners: { o: { name: O } }\nproviders: { simulator: {} }\n`;
    await writeFile(file, `${text}models: { m: { ${model}, price: ${price} } }\n`);
    const { configuration, faults } = await load(file, {}, MODALITIES);
    expect(faults).to.deep.equal([]);
    const read = configuration?.models.get('m')?.upstreams[0]?.price.per_video_second;
    return Object.fromEntries(read ?? []);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const CASES: { price: string; gives: Record<string, bigint> }[] = [
  {
    price: '{ per_video_second: 0.25 }',
    gives: Object.fromEntries(
      ['720p', '1080p', '4k'].flatMap((name) => [
        [`${name}/silent`, 250_000_000n],
        [`${name}/audio`, 250_000_000n],
      ]),
    ),
  },
  {
    price: '{ per_video_second: { 720p: 0.1, 4k: { audio: 0.3 } } }',
    gives: { '720p/silent': 100_000_000n, '720p/audio': 100_000_000n, '4k/audio': 300_000_000n },
  },
  {
    price: '{ per_video_second: { 1080p: { silent: 0, audio: 0.000000001 } } }',
    gives: { '1080p/silent': 0n, '1080p/audio': 1n },
  },
  { price: 'free', gives: {} },
];

describe('prices of video', () => {
  for (const { price, gives } of CASES) {
    it(`are read from ${price}`, async () => {
      expect(await pricesOf(price)).to.deep.equal(gives);
    });
  }
});
