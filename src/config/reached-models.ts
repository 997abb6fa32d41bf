import type { EndpointEntry } from '../core/configuration.js';
import type { Model } from '../core/model.js';
import type { DefaultEndpoint, Modalities } from '../pipeline/modality.js';
import type { GatewayFile } from '../schema-types/gateway.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';
import { defaultEndpoints } from './endpoints.js';

/** Reports a model that no endpoint routes to: clients see it in the list, but cannot call it. */
export function checkReached(
  source: Source,
  gateway: PartialLoad<GatewayFile>,
  models: Iterable<Model>,
  endpoints: readonly EndpointEntry[],
  modalities: Modalities,
): void {
  const routes = endpoints.flatMap(({ stages }) => stages.filter(({ name }) => name === 'route'));
  const reached = new Set(routes.map(({ option }) => capabilityOf(option)));
  for (const { id, capabilities } of models) {
    const work = [...modalities.values()].filter(({ name }) => capabilities.has(name));
    const [first] = work;
    if (!first || work.some(({ name }) => reached.has(name))) continue;
    const lost = defaultEndpoints(modalities).find((one) => {
      return typeof gateway.endpoints?.[one.name] === 'string' && workOf(one) === first.name;
    });
    source.fault(`/models${join(id)}`, {
      code: 'unreached_model',
      message: `no endpoint serves the capability ${quote(first.name)} of ${quote(id)}`,
      hint: lost
        ? `remove the line "${lost.name}: off", which takes its endpoint away`
        : `an endpoint with route: { capability: ${first.name} } does`,
      at: 'key',
    });
  }
}

function capabilityOf(option: unknown): unknown {
  return (option as { capability?: unknown } | null | undefined)?.capability;
}

/** The capability that a shipped endpoint routes to; undefined for one that routes to no model. */
function workOf({ stages }: DefaultEndpoint): unknown {
  return stages
    .map((stage) => (typeof stage === 'object' ? capabilityOf(stage.route) : undefined))
    .find((one) => one !== undefined);
}
