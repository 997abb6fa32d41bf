import { formatDollars } from '../../billing/money.js';
import type { Configuration } from '../../config/types.js';
import type { Model, Price, Upstream } from '../../types.js';

/** Dollars by unit, as gateway.yaml has them; or `free`. */
export type PriceShape = 'free' | Record<string, string | Record<string, string>>;

export function priceShape(price: Price): PriceShape {
  if (price.free) return 'free';
  const { input_nano_per_million: input, output_nano_per_million: output } = price;
  const shape: PriceShape = {};
  if (input > 0n || output > 0n) {
    shape['input_per_million'] = formatDollars(input);
    shape['output_per_million'] = formatDollars(output);
  }
  if (price.per_image) shape['per_image'] = inDollars(price.per_image);
  if (price.per_video_second) shape['per_video_second'] = inDollars(price.per_video_second);
  return shape;
}

/** All models for operators: where their calls go, and what is done to them on the way. */
export function modelsShape({ models }: Configuration): Record<string, object> {
  return Object.fromEntries([...models].map(([id, model]) => [id, modelShape(model)]));
}

function modelShape(model: Model): object {
  return {
    owner: model.owner,
    created: model.created,
    capabilities: [...model.capabilities],
    limits: model.limits,
    passthrough: [...model.passthrough],
    price: priceShape(model.price),
    upstreams: model.upstreams.map(upstreamShape),
  };
}

/** What is set may be anything, a secret too: only its name is told. */
function upstreamShape(upstream: Upstream): object {
  return {
    provider: upstream.provider.name,
    model: upstream.model,
    weight: upstream.weight ?? null,
    set: Object.keys(upstream.set),
    drop: upstream.drop,
    rename: upstream.rename,
    price: priceShape(upstream.price),
  };
}

function inDollars(prices: ReadonlyMap<string, bigint>): Record<string, string> {
  return Object.fromEntries([...prices].map(([unit, nano]) => [unit, formatDollars(nano)]));
}
