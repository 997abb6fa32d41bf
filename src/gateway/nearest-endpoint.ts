import type { EndpointEntry } from '../core/configuration.js';

/** An endpoint that a request most likely means, and its path with the values of the request. */
interface Nearest {
  endpoint: EndpointEntry;
  path: string;
}

/**
 * Finds the endpoint that a request means whose client has a wrong base URL: one of the same method
 * and with the same end of its path. Of several it is the one whose beginning differs least.
 */
export function nearestEndpoint(
  endpoints: readonly EndpointEntry[],
  method: string,
  path: string,
): Nearest | undefined {
  const given = partsOf(path);
  let nearest: (Nearest & { distance: number }) | undefined;
  for (const endpoint of endpoints) {
    if (endpoint.method !== method) continue;
    const parts = partsOf(endpoint.path);
    const tail = commonTail(given, parts);
    if (!tail) continue;
    const head = parts.slice(0, tail.at_endpoint);
    const distance = distanceOf(head, given.slice(0, tail.at_given));
    if (nearest && nearest.distance <= distance) continue;
    const address = [...head, ...given.slice(tail.at_given)];
    nearest = { endpoint, path: `/${address.join('/')}`, distance };
  }
  return nearest;
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}

/** Where the common end of two paths begins, by a word. The endpoint has no parameter before it. */
function commonTail(
  given: readonly string[],
  endpoint: readonly string[],
): { at_given: number; at_endpoint: number } | undefined {
  let tail: { at_given: number; at_endpoint: number } | undefined;
  let at = given.length;
  for (const [index, part] of [...endpoint.entries()].toReversed()) {
    const last = given[at - 1];
    if (last === undefined) break;
    const [name, end = ''] = part.startsWith('{') ? part.split('}') : [undefined, part];
    if (name === undefined ? last !== end : !last.endsWith(end)) break;
    at -= 1;
    // A model's ID has any number of parts: it begins behind the word before it.
    const before = endpoint[index - 1];
    if (name === '{model' && before !== undefined && at > 0) {
      at = given.lastIndexOf(before, at - 1) + 1;
    }
    if (name === undefined || end !== '') tail = { at_given: at, at_endpoint: index };
    if (at === 0) break;
  }
  const isOpen = endpoint.slice(0, tail?.at_endpoint).some((part) => part.startsWith('{'));
  return isOpen ? undefined : tail;
}

/** How many parts two beginnings do not have in common. */
function distanceOf(one: readonly string[], other: readonly string[]): number {
  const differing = one.findIndex((part, at) => part !== other[at]);
  const common = differing === -1 ? one.length : differing;
  return one.length + other.length - 2 * common;
}
