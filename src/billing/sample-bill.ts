import type { Upstream } from '../core/model.js';

/** The cost of an ordinary request to a model, computed by the same code as a real one. */
export interface SampleBill {
  /** A description of the request. */
  request: string;
  /** The hold: the max cost at the most expensive of the upstreams. */
  held_nano: bigint;
  /** The charge for each upstream's answer. */
  charges: { provider: string; cost_nano: bigint }[];
}

/** Charges a sample request at each upstream that may answer it. */
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
