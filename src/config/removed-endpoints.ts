import type { EndpointEntry } from '../core/configuration.js';
import type { DefaultEndpoint } from '../pipeline/modality.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { defaultEndpoints } from './endpoints.js';
import type { ReadFile } from './read-file.js';

/**
 * Warns of `NAME: off` where models do that work, and only the shipped copy of the endpoint below
 * another path still reaches them. Of several such lines for one kind of work one is reported.
 */
export function checkRemoved(source: Source, file: ReadFile): void {
  const { endpoints, models, modalities } = file;
  const removed = removedIn(file);
  if (removed.length === 0) return;
  const shipped = new Set(defaultEndpoints(modalities).map(({ name, at }) => `${name} ${at}`));
  const reported = new Set<unknown>();
  for (const one of removed) {
    const work = workOf(one);
    const served = [...models.values()].filter(({ capabilities }) => {
      return [...capabilities].some((one) => one === work);
    });
    const left = endpoints.filter((entry) => routesTo(entry, work));
    const isOnlyCopies = left.every((entry) => {
      const isShipped = shipped.has(`${entry.name} ${entry.method} ${entry.path}`);
      return isShipped && removed.some((other) => isCopy(entry, other));
    });
    const [model, ...more] = served;
    const hasCopy = left.some((entry) => isCopy(entry, one));
    if (!model || !isOnlyCopies || !hasCopy || reported.has(work)) continue;
    reported.add(work);
    const verb = more.length > 0 ? ` and ${more.length} more answer` : ' answers';
    const they = quote(model.id) + verb;
    const at = left.map(({ method, path }) => `${method} ${path}`).join(' and ');
    const place = `/endpoints${join(one.name)}`;
    source.fault(place, {
      code: 'lost_path',
      message: `${source.word(place)} removes ${one.at}, so ${they} at ${at} alone`,
      hint: 'remove this line, or leave it if clients use that address',
      severity: 'warning',
    });
  }
}

/** The hint for a capability whose shipped endpoint the file takes away. */
export function removedHint(file: ReadFile, capability?: string): string | undefined {
  const lost = removedIn(file).find((one) => workOf(one) === capability);
  return lost && `remove the line "${lost.name}: off", which takes its endpoint away`;
}

export function capabilityOf(option: unknown): unknown {
  return (option as { capability?: unknown } | null | undefined)?.capability;
}

/** The shipped endpoints that the file takes away, and that route to models. */
function removedIn({ gateway, modalities }: ReadFile): DefaultEndpoint[] {
  return defaultEndpoints(modalities).filter((one) => {
    return typeof gateway.endpoints?.[one.name] === 'string' && workOf(one) !== undefined;
  });
}

/** The capability that a shipped endpoint routes to; undefined for one that routes to no model. */
function workOf({ stages }: DefaultEndpoint): unknown {
  return stages
    .map((stage) => (typeof stage === 'object' ? capabilityOf(stage['route']) : undefined))
    .find((one) => one !== undefined);
}

function routesTo({ stages }: EndpointEntry, work: unknown): boolean {
  return stages.some(({ name, option }) => name === 'route' && capabilityOf(option) === work);
}

/** Whether an endpoint is another one below a further path: `/NAME/v1/...` for `/v1/...`. */
function isCopy({ method, path }: EndpointEntry, { at }: DefaultEndpoint): boolean {
  const [usual_method, usual = ''] = at.split(' ');
  return method === usual_method && path !== usual && path.endsWith(usual);
}
