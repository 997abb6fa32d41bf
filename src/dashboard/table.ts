import type { Parameters, Route } from './types.js';

/** What stands at a path: its routes by method, and the parameters that it gives them. */
export interface Found {
  routes: ReadonlyMap<string, Route>;
  params: Parameters;
}

interface Pattern {
  segments: readonly string[];
  routes: Map<string, Route>;
}

const NO_PARAMS: Parameters = Object.freeze({});

/** Finds routes by path. One that is not of the dashboard costs a look or two into a map. */
export class RouteTable {
  readonly #exact = new Map<string, Map<string, Route>>();
  /** Paths with parameters, by their first segment. */
  readonly #patterns = new Map<string, Pattern[]>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const at = /[:*]/u.test(route.path) ? this.#pattern(route.path) : this.#plain(route.path);
      if (at.has(route.method)) throw new Error(`${route.method} ${route.path} is there twice.`);
      at.set(route.method, route);
    }
  }

  find(path: string): Found | undefined {
    const routes = this.#exact.get(path);
    if (routes) return { routes, params: NO_PARAMS };
    const end = path.indexOf('/', 1);
    const patterns = end < 0 ? undefined : this.#patterns.get(path.slice(1, end));
    if (!patterns) return undefined;
    const segments = path.slice(1).split('/');
    for (const pattern of patterns) {
      const params = match(pattern.segments, segments);
      if (params) return { routes: pattern.routes, params };
    }
    return undefined;
  }

  #plain(path: string): Map<string, Route> {
    const routes = this.#exact.get(path) ?? new Map<string, Route>();
    this.#exact.set(path, routes);
    return routes;
  }

  #pattern(path: string): Map<string, Route> {
    const segments = path.slice(1).split('/');
    const [first = ''] = segments;
    const patterns = this.#patterns.get(first) ?? [];
    this.#patterns.set(first, patterns);
    const known = patterns.find((pattern) => pattern.segments.join('/') === segments.join('/'));
    if (known) return known.routes;
    const routes = new Map<string, Route>();
    patterns.push({ segments, routes });
    return routes;
  }
}

function match(pattern: readonly string[], segments: readonly string[]): Parameters | undefined {
  const open = pattern.at(-1)?.startsWith('*') ?? false;
  if (open ? segments.length < pattern.length : segments.length !== pattern.length)
    return undefined;
  const params: [string, string][] = [];
  for (const [i, part] of pattern.entries()) {
    const here = part.startsWith('*') ? segments.slice(i).join('/') : (segments[i] ?? '');
    const value = decode(here);
    if (value === undefined || value === '') return undefined;
    if (/^[:*]/u.test(part)) params.push([part.slice(1), value]);
    else if (part !== here) return undefined;
  }
  return Object.fromEntries(params);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
