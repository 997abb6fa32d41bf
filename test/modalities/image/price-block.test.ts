import { expect } from 'chai';
import { load } from '../../../src/config/load.js';
import { MODALITIES } from '../../../src/modalities/index.js';
import { ENV, FIXTURES } from '../../config/helpers/fixtures.js';

describe('an image price in gateway.yaml', () => {
  it('is one number, one by quality, one by size, or one by both', async () => {
    const { configuration } = await load(`${FIXTURES}sound-media.yaml.txt`, ENV, MODALITIES);
    const prices = ['picture', 'poster', 'mural', 'frieze'].map((id) => [
      ...(configuration?.models.get(id)?.price.per_image ?? []),
    ]);
    expect(prices).to.deep.equal([
      [['any', 40_000_000n]],
      [
        ['standard', 40_000_000n],
        ['hd', 80_000_000n],
      ],
      [['1024x1024', 40_000_000n]],
      [
        ['low', 10_000_000n],
        ['high/1024x1024', 100_000_000n],
        ['high/512x512', 50_000_000n],
      ],
    ]);
  });

  it('may be that of its tokens alone', async () => {
    const { configuration, faults } = await load(
      `${FIXTURES}sound-image-tokens.yaml.txt`,
      ENV,
      MODALITIES,
    );
    expect(faults).to.deep.equal([]);
    const model = configuration?.models.get('poster');
    expect(model?.price.per_image).to.equal(undefined);
    expect(model?.price.output_nano_per_million).to.equal(30_000_000_000n);
    expect(model?.limits).to.include({ images: 4, max_tokens: 5_000 });
  });
});
