import type { VideoCall } from '../../src/modalities/video/codec.js';
import { providerAt, upstreamAt } from './upstream.js';
import type { Upstream } from '../../src/core/model.js';

/** A video as most clients ask for one. */
export const VIDEO_CALL: VideoCall = {
  prompt: 'a kite',
  aspect_ratio: '16:9',
  resolution: '720p',
  duration_seconds: 8,
  generate_audio: true,
  sample_count: 1,
  negative_prompt: undefined,
  image: undefined,
};

/** An upstream that is never asked. */
export function veoAt(more: Partial<Upstream>): Upstream {
  return upstreamAt(providerAt('https://upstream.example.com/v1'), more);
}
