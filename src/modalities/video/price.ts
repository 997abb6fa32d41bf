import { dearestCost, priceAtTime } from '../../billing/rate-card.js';
import { callsFor } from '../../core/provider.js';
import { costCard, type Price, type Upstream } from '../../core/model.js';
import type { TaskTarget } from '../../store/tasks/task-types.js';
import type { VideoCall } from './codec.js';

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
  const { duration_seconds, sample_count } = call;
  return dearestCost(
    upstreams,
    (card) => videoCost(videoRate(card, call) ?? 0n, duration_seconds, sample_count),
    ({ provider }) => callsFor(provider, 'video', sample_count),
  );
}

/** An upstream with its prices of the hour in which its jobs begin, whenever they end. */
export function taskTarget(upstream: Upstream, call: RatedCall, began_ms: number): TaskTarget {
  const price = priceAtTime(upstream.price, began_ms);
  const cost = costCard(price);
  const price_nano = videoRate(price, call);
  const upstream_price_nano = videoRate(cost, call);
  if (price_nano === undefined || upstream_price_nano === undefined) {
    throw new Error('The upstream has no price for this video.');
  }
  return {
    provider: upstream.provider.name,
    upstream_model: upstream.model,
    price_nano,
    upstream_price_nano,
    fee_nano: price.per_request ?? 0n,
    upstream_fee_nano: cost.per_request ?? 0n,
  };
}
