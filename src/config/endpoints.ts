import type { EndpointBlock } from '../schema-types/gateway.js';
import { nameHint, nearestWord } from '../yaml/did-you-mean.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { EVERY, isWhole, readStage, stageAt, withInsertions } from './insertions.js';
import type { EndpointEntry, StageEntry } from '../core/configuration.js';
import type { DefaultEndpoint, Modalities } from '../pipeline/modality.js';
import type { PartialLoad } from '../yaml/validate.js';

const MODELS: readonly DefaultEndpoint[] = [
  { name: 'models', at: 'GET /v1/models', stages: ['auth', 'models'] },
  { name: 'model', at: 'GET /v1/models/{model}', stages: ['auth', 'model'] },
];

/** The endpoints that the gateway ships with. */
export function defaultEndpoints(modalities: Modalities): DefaultEndpoint[] {
  const brought = [...modalities.values()].flatMap(({ formats, endpoints }) => [
    ...formats.map(({ endpoint }) => endpoint),
    ...endpoints,
  ]);
  return [...brought, ...MODELS].flatMap(withSecondPath);
}

/** An endpoint, and the same at its second path. */
function withSecondPath(endpoint: DefaultEndpoint): DefaultEndpoint[] {
  const { name, at, stages, also } = endpoint;
  if (!also) return [endpoint];
  return [endpoint, { name: also.name(name), at: at.replace(also.first, also.second), stages }];
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const PATH = /^\/(?:(?:[A-Za-z0-9._~:-]|\{[A-Za-z][A-Za-z0-9_]*\})+(?:\/|$))*$/;

type Block = PartialLoad<EndpointBlock>;

/**
 * The endpoints of the file that could be read, and after them the shipped ones. An entry of the
 * file replaces the shipped endpoint of its name, and any at its address. `NAME: off` removes a
 * shipped endpoint. An entry without an address adds stages to the endpoint of its name, or as `*`
 * to all endpoints.
 */
export function readEndpoints(
  source: Source,
  entries: Readonly<Record<string, Block | undefined>> | undefined,
  modalities: Modalities,
): EndpointEntry[] {
  if (!source.readable) return [];
  const shipped = defaultEndpoints(modalities).map((one) => readDefault(source, one));
  const read: EndpointEntry[] = [];
  const replaced = new Set<string>();
  for (const [name, entry] of Object.entries(entries ?? {})) {
    if (name === EVERY) {
      checkEvery(source, entry);
      continue;
    }
    if (typeof entry === 'string' || onlyAdds(source, name)) checkShipped(source, name, shipped);
    if (onlyAdds(source, name)) continue;
    replaced.add(name);
    if (typeof entry === 'string') continue;
    const endpoint = entry && readEndpoint(source, name, entry);
    if (!endpoint) continue;
    checkTaken(source, endpoint, read);
    checkOwnPath(source, endpoint);
    read.push(endpoint);
  }
  const taken = new Set(read.map(shapeOf));
  const kept = shipped.filter((one) => !replaced.has(one.name) && !taken.has(shapeOf(one)));
  return withInsertions(source, [...read, ...kept], entries ?? {});
}

/** Whether an entry has neither address nor stages: it changes the shipped endpoint of its name. */
function onlyAdds(source: Source, name: string): boolean {
  const keys = source.keys(`/endpoints${join(name)}`) ?? [];
  const adds = keys.some((key) => key === 'before' || key === 'after');
  return adds && !keys.includes('at') && !keys.includes('stages');
}

/** Reports an entry that takes away, or changes, an endpoint that the gateway does not ship. */
function checkShipped(source: Source, name: string, shipped: readonly EndpointEntry[]): void {
  const names = shipped.map((one) => one.name);
  if (names.includes(name)) return;
  const use = onlyAdds(source, name) ? 'add a stage to' : 'take away';
  source.fault(`/endpoints${join(name)}`, {
    code: 'unknown_endpoint',
    message: `no shipped endpoint is called ${quote(name)}, so there is none to ${use}`,
    hint: nameHint(name, names),
    at: 'key',
  });
}

/** Refuses an address, a list of stages and `off` for `*`, which is all endpoints. */
function checkEvery(source: Source, entry: Block | undefined): void {
  const pointer = `/endpoints${join(EVERY)}`;
  const addFault = (place: string, at: 'key' | 'value'): void =>
    source.fault(place, {
      code: 'bad_endpoint',
      message: '"*" stands for every endpoint: it can only add stages',
      hint: 'write before: { STAGE: [...] } or after: { STAGE: [...] }',
      at,
    });
  if (typeof entry === 'string') addFault(pointer, 'value');
  for (const key of ['at', 'stages']) {
    if (source.has(`${pointer}/${key}`)) addFault(`${pointer}/${key}`, 'key');
  }
}

function readEndpoint(
  source: Source,
  name: string,
  { at, stages }: Exclude<Block, string>,
): EndpointEntry | undefined {
  const pointer = `/endpoints${join(name)}`;
  const address = at === undefined ? undefined : readAt(source, `${pointer}/at`, at);
  if (!address || !stages) return undefined;
  const entries: StageEntry[] = [];
  for (const [i, stage] of stages.entries()) {
    const at_stage = `${pointer}/stages${join(i)}`;
    // The stages after an unreadable one would only be reported for the facts that it did not give.
    if (stage === undefined || !isWhole(source, at_stage, stage)) break;
    entries.push(stageAt(source, at_stage, stage));
  }
  const place = source.place(pointer, 'key');
  return { name, ...address, stages: entries, place, main: source.file };
}

function readAt(
  source: Source,
  pointer: string,
  at: string,
): { method: string; path: string } | undefined {
  const [method = '', path = '', ...rest] = at.split(' ');
  const isValid = isPath(path) && rest.length === 0;
  if (isValid && METHODS.includes(method)) return { method, path };
  const near = source.hides(pointer) ? undefined : nearestAt(at);
  const hint = near ? `did you mean ${quote(near)}?` : `such as "POST /v1/NAME/{id}"`;
  const message = `at: ${source.word(pointer)} is not a method and a path`;
  source.fault(pointer, { code: 'bad_endpoint', message, hint });
  return undefined;
}

function isPath(path: string): boolean {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([name]) => name);
  // `:id` is the parameter of other routers; here it is `{id}`.
  return PATH.test(path) && !path.includes('/:') && new Set(names).size === names.length;
}

/** The method and path that a whole URL, or another spelling, most likely means. */
function nearestAt(at: string): string | undefined {
  const words = at.trim().split(/[\s,]+/);
  const [first = '', second] = words;
  if (words.length > 2) return undefined;
  const given = second ?? first;
  const isWord = /^(?:any|all|\*)$/i.test(first);
  const method = second === undefined || isWord ? 'POST' : nearestWord(first, METHODS);
  const path = given
    .replace(/^https?:\/\/[^/]+/i, '')
    .replace(/^(?=[^/])/, '/')
    .replaceAll(/\/{2,}/g, '/')
    .replaceAll(/\/:(\w+)/g, '/{$1}')
    .replaceAll(/<(\w+)>/g, '{$1}');
  const isOne = second !== undefined || given.includes('/');
  return method && isOne && isPath(path) ? `${method} ${path}` : undefined;
}

/**
 * Refuses two endpoints with the same method and path. To a router the names in braces make no
 * difference.
 */
function checkTaken(
  source: Source,
  endpoint: EndpointEntry,
  before: readonly EndpointEntry[],
): void {
  const other = before.find((one) => shapeOf(one) === shapeOf(endpoint));
  if (!other) return;
  const pointer = `/endpoints${join(endpoint.name)}/at`;
  source.fault(pointer, {
    code: 'duplicate_endpoint',
    message: `${source.word(pointer)} is taken by the endpoint ${quote(other.name)} already`,
    hint: 'choose another path',
  });
}

/** The first parts of the paths of pages and of the management API. */
export const DASHBOARD_PATHS: ReadonlySet<string> = new Set([
  '',
  'agents',
  'api',
  'assets',
  'caches',
  'docs',
  'ledger',
  'models',
  'openapi.json',
  'operator',
  'playground',
  'reference',
  'requests',
  'settings',
  'sign-in',
  'sign-out',
  'usage',
]);

/** Refuses an address at which the dashboard answers. */
function checkOwnPath(source: Source, { name, path }: EndpointEntry): void {
  const [, first = ''] = path.split('/');
  if (!DASHBOARD_PATHS.has(first) || source.text('/dashboard') === 'false') return;
  const owner = first === 'api' ? 'the management API' : 'the dashboard';
  source.fault(`/endpoints${join(name)}/at`, {
    code: 'own_path',
    message: `at: ${owner} answers at ${path}, and never this endpoint`,
    hint: 'choose another path, or write dashboard: false',
  });
}

function shapeOf({ method, path }: EndpointEntry): string {
  return `${method} ${path.replaceAll(/\{\w+\}/g, '{}').replace(/(?<=.)\/$/, '')}`;
}

function readDefault(source: Source, { name, at, stages }: DefaultEndpoint): EndpointEntry {
  const [method = '', path = ''] = at.split(' ');
  const place = source.placeOf(0);
  return {
    name,
    method,
    path,
    stages: stages.map((stage) => readStage(stage, place)),
    place,
    main: source.file,
  };
}
