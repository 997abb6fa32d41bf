import type { VideoCall } from './codec.js';
import type { Price, Upstream } from '../../core/model.js';

type Kind = Pick<VideoCall, 'resolution' | 'generate_audio'>;

/** Nano-dollars of one second of such a video; undefined where the price does not cover it. */
export function videoRate(price: Price, { resolution, generate_audio }: Kind): bigint | undefined {
  if (price.free) return 0n;
  return price.per_video_second?.get(`${resolution}/${generate_audio ? 'audio' : 'silent'}`);
}

/** What so many videos of so many seconds cost, in nano-dollars: exactly, with nothing to round. */
export function videoCost(
  rate_nano: bigint,
  duration_seconds: number,
  sample_count: number,
): bigint {
  return rate_nano * BigInt(duration_seconds * sample_count);
}

/** What must be held before the task is submitted: at the dearest upstream that may take it. */
export function videoMaxCost(call: VideoCall, upstreams: readonly Upstream[]): bigint {
  let dearest = 0n;
  for (const { price } of upstreams) {
    const rate = videoRate(price, call) ?? 0n;
    const cost = videoCost(rate, call.duration_seconds, call.sample_count);
    if (cost > dearest) dearest = cost;
  }
  return dearest;
}
