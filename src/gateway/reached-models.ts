import type { ReadFile } from '../config/load.js';
import type { EndpointEntry } from '../core/configuration.js';
import type { Modalities } from '../pipeline/modality.js';
import { quote } from '../yaml/source.js';

/** Reports a model that no endpoint routes to: clients see it in the list, but cannot call it. */
export function reportUnreached(
  { source, gateway, models }: ReadFile,
  endpoints: readonly EndpointEntry[],
  modalities: Modalities,
): void {
  if (!source.complete) return;
  const given = new Set(endpoints.flatMap(({ traits }) => traits?.gives ?? []));
  for (const { model, pointer } of models) {
    const work = [...modalities.values()].filter(({ name }) => model.capabilities.has(name));
    const [first] = work;
    if (!first || work.some(({ name }) => given.has(`work:${name}`))) continue;
    const shipped = first.formats.map(({ endpoint }) => endpoint.name);
    const lost = shipped.find((name) => typeof gateway.endpoints?.[name] === 'string');
    source.fault(pointer, {
      code: 'unreached_model',
      message: `no endpoint serves the capability ${quote(first.name)} of ${quote(model.id)}`,
      hint: lost
        ? `remove the line "${lost}: off", which takes its endpoint away`
        : `an endpoint with route: { capability: ${first.name} } does`,
      at: 'key',
    });
  }
}
