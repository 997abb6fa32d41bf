import { maxNano } from '../../lib/money.js';
import type { VideoCall } from './codec.js';
import type { Price, Upstream } from '../../core/model.js';

type RatedCall = Pick<VideoCall, 'resolution' | 'generate_audio'>;

/** The price of one second of such a video in nano-dollars; undefined if it has none. */
export function videoRate(
  price: Price,
  { resolution, generate_audio }: RatedCall,
): bigint | undefined {
  if (price.free) return 0n;
  return price.per_video_second?.get(`${resolution}/${generate_audio ? 'audio' : 'silent'}`);
}

/** The cost of videos in nano-dollars, exact without rounding. */
export function videoCost(
  rate_nano: bigint,
  duration_seconds: number,
  sample_count: number,
): bigint {
  return rate_nano * BigInt(duration_seconds * sample_count);
}

/** The amount to hold before the task is submitted: its max cost at any of the upstreams. */
export function videoMaxCost(call: VideoCall, upstreams: readonly Upstream[]): bigint {
  const costs = upstreams.map(({ price }) => {
    const rate = videoRate(price, call) ?? 0n;
    return videoCost(rate, call.duration_seconds, call.sample_count);
  });
  return maxNano(costs);
}
