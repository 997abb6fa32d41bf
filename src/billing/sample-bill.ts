import type { Upstream } from '../core/model.js';

/** What one ordinary request to a model would cost, worked out as the gateway works it out. */
export interface SampleBill {
  /** The request in words. */
  request: string;
  /** Set aside before the request leaves: the most it can cost at any upstream that may take it. */
  held_nano: bigint;
  /** The charge for each upstream's answer. */
  charges: { provider: string; cost_nano: bigint }[];
}

export function billSample(
  request: string,
  held_nano: bigint,
  upstreams: readonly Upstream[],
  costOf: (upstream: Upstream) => bigint,
): SampleBill {
  const charges = upstreams.map((upstream) => ({
    provider: upstream.provider.name,
    cost_nano: costOf(upstream),
  }));
  return { request, held_nano, charges };
}
