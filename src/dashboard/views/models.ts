import { priceShape } from '../../billing/price-shape.js';
import type { Configuration } from '../../core/configuration.js';
import type { Model, Upstream } from '../../core/model.js';

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
