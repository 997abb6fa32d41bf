import { expect } from 'chai';
import { videoMaxCost, videoCost, videoRate } from '../../../src/modalities/video/price.js';
import type { VideoCall } from '../../../src/modalities/video/codec.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';
import type { Price } from '../../../src/core/model.js';

const TOKENS = { input_nano_per_million: 0n, output_nano_per_million: 0n };

function priceOf(entries: Record<string, bigint>): Price {
  return { free: false, ...TOKENS, per_video_second: new Map(Object.entries(entries)) };
}

const CALL: VideoCall = {
  prompt: 'x',
  aspect_ratio: '16:9',
  resolution: '1080p',
  duration_seconds: 7,
  generate_audio: true,
  sample_count: 3,
  negative_prompt: undefined,
  image: undefined,
};

describe('the price of video', () => {
  const price = priceOf({ '1080p/audio': 333_333_333n, '1080p/silent': 1n });

  it('is by resolution and sound', () => {
    expect(videoRate(price, CALL)).to.equal(333_333_333n);
    expect(videoRate(price, { ...CALL, generate_audio: false })).to.equal(1n);
    expect(videoRate(price, { ...CALL, resolution: '4k' })).to.equal(undefined);
    expect(videoRate({ free: true, ...TOKENS }, { ...CALL, resolution: '4k' })).to.equal(0n);
    expect(videoRate({ free: false, ...TOKENS }, CALL)).to.equal(undefined);
  });

  it('is exact over seconds and videos', () => {
    expect(videoCost(333_333_333n, 7, 3)).to.equal(6_999_999_993n);
  });

  it('is held at the dearest upstream', () => {
    const provider = providerAt('http://127.0.0.1');
    const dearer = upstreamAt(provider, { price: priceOf({ '1080p/audio': 333_333_334n }) });
    const cheaper = upstreamAt(provider, { price });
    expect(videoMaxCost(CALL, [cheaper, dearer, cheaper])).to.equal(7_000_000_014n);
    expect(videoMaxCost(CALL, [])).to.equal(0n);
  });
});
