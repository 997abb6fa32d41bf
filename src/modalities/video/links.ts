import type { EndpointEntry } from '../../core/configuration.js';
import type { Services } from '../../pipeline/services.js';

/** The paths of links, if gateway.yaml has no endpoint for the operation. */
const DEFAULT = {
  'video.status': '/v1/queue/{model}/requests/{requestID}/status',
  'video.result': '/v1/queue/{model}/requests/{requestID}',
  'video.content': '/v1/queue/{model}/requests/{requestID}/content/{index}',
};

/** The request whose answer has the links. */
export interface LinkBase {
  /** The name of its endpoint. */
  endpoint: string | undefined;
  /** Its path as the client wrote it. */
  path: string;
  /** The public ID of the model. */
  model: string;
}

export type TaskOperation = keyof typeof DEFAULT;

/**
 * The relative URL of an operation on a task, with the model's ID as the client wrote it in this
 * request, slashes included.
 */
export function linkTo(
  operation: TaskOperation,
  names: { requestID: string; index?: number },
  base: LinkBase,
  { configuration }: Services,
): string {
  const { endpoints } = configuration;
  const here = endpoints.find(({ name }) => name === base.endpoint);
  const found = endpoints
    .filter((endpoint) => does(endpoint, operation))
    .toSorted((a, b) => shared(b, here) - shared(a, here));
  const values: Record<string, string> = {
    model: written(here, base.path) ?? encodeURI(base.model),
    requestID: names.requestID,
    index: String(names.index ?? 0),
  };
  const path = found[0]?.path ?? DEFAULT[operation];
  return path.replaceAll(/\{(\w+)\}/gu, (_all, name: string) => values[name] ?? '');
}

/** The ID of the model, as the client wrote it in the path. */
function written(endpoint: EndpointEntry | undefined, path: string): string | undefined {
  if (!endpoint) return undefined;
  const pattern = endpoint.path
    .replaceAll(/[.*+?^$()|[\]\\]/gu, String.raw`\$&`)
    .replaceAll(/\{(\w+)\}/gu, (_all, name: string) => (name === 'model' ? '(.+)' : '[^/]+'));
  return new RegExp(`^${pattern}/?$`, 'u').exec(path)?.[1];
}

function does({ stages }: EndpointEntry, operation: string): boolean {
  return stages.some(({ option }) => option === operation);
}

/** The length of the common start of two paths: endpoints that belong together share the most. */
function shared(a: EndpointEntry, b: EndpointEntry | undefined): number {
  let length = 0;
  while (b && a.path[length] !== undefined && a.path[length] === b.path[length]) length += 1;
  return length;
}
