import { priceShape } from '../../billing/price-shape.js';
import type { Configuration } from '../../core/configuration.js';
import type { Model, Upstream } from '../../core/model.js';

/** All models, with their upstreams and the changes to their requests, for operators. */
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

/** A value in `set` may be a secret, so only its name is shown. */
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
