import type { EndpointBlock } from '../schema-types/gateway.js';
import { nearestWord } from '../yaml/did-you-mean.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { EndpointEntry, StageEntry } from '../core/configuration.js';
import type { PartialLoad } from '../yaml/validate.js';

interface Standard {
  name: string;
  at: string;
  stages: readonly (string | Readonly<Record<string, unknown>>)[];
}

/** The endpoints that stand where the file has no `endpoints`. */
export const DEFAULT_ENDPOINTS: readonly Standard[] = [
  {
    name: 'chat',
    at: 'POST /v1/chat/completions',
    stages: [
      'auth',
      { validate: 'chat-completion' },
      { route: { capability: 'chat' } },
      'balance',
      { transform: 'chat' },
      'meter',
    ],
  },
  {
    name: 'images',
    at: 'POST /v1/images/generations',
    stages: [
      'auth',
      { validate: 'image-generation' },
      { route: { capability: 'image' } },
      'balance',
      { transform: 'image' },
      'meter',
    ],
  },
  { name: 'hosted-images', at: 'GET /images/{id}', stages: ['hosted-image'] },
  {
    name: 'submit',
    at: 'POST /v1/queue/{model}',
    stages: [
      'auth',
      { validate: 'video-submission' },
      { route: { capability: 'video' } },
      'balance',
      { transform: 'video.submit' },
    ],
  },
  {
    name: 'status',
    at: 'GET /v1/queue/{model}/requests/{requestID}/status',
    stages: ['auth', { route: 'task' }, { transform: 'video.status' }],
  },
  {
    name: 'result',
    at: 'GET /v1/queue/{model}/requests/{requestID}',
    stages: ['auth', { route: 'task' }, { transform: 'video.result' }, { meter: 'once' }],
  },
  {
    name: 'content',
    at: 'GET /v1/queue/{model}/requests/{requestID}/content/{index}',
    stages: ['auth', { route: 'content' }, { transform: 'video.content' }],
  },
  { name: 'models', at: 'GET /v1/models', stages: ['auth', 'models'] },
];

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const PATH = /^\/(?:(?:[A-Za-z0-9._~-]|\{[A-Za-z][A-Za-z0-9_]*\})+(?:\/|$))*$/;

/** The endpoints of the file as far as they can be read, or the standard ones. */
export function readEndpoints(
  source: Source,
  entries: Readonly<Record<string, PartialLoad<EndpointBlock> | undefined>> | undefined,
): EndpointEntry[] {
  if (!source.readable) return [];
  if (!source.marks.has('/endpoints')) return DEFAULT_ENDPOINTS.map((one) => standard(source, one));
  const read: EndpointEntry[] = [];
  for (const [name, entry] of Object.entries(entries ?? {})) {
    const endpoint = entry && readEndpoint(source, name, entry);
    if (!endpoint) continue;
    checkTaken(source, endpoint, read);
    read.push(endpoint);
  }
  return withHostedImages(source, read);
}

/** Images that are asked for by URL need a place to be had from, also where the file has none. */
function withHostedImages(source: Source, read: EndpointEntry[]): EndpointEntry[] {
  const has = (name: string, option?: string): boolean =>
    read.some(({ stages }) =>
      stages.some((stage) => stage.name === name && (!option || stage.option === option)),
    );
  const hosted = DEFAULT_ENDPOINTS.find(({ name }) => name === 'hosted-images');
  const taken = read.some(({ name }) => name === 'hosted-images');
  if (!hosted || taken || has('hosted-image') || !has('transform', 'image')) return read;
  return [...read, standard(source, hosted)];
}

function readEndpoint(
  source: Source,
  name: string,
  { at, stages }: PartialLoad<EndpointBlock>,
): EndpointEntry | undefined {
  const pointer = `/endpoints${join(name)}`;
  const address = at === undefined ? undefined : readAt(source, `${pointer}/at`, at);
  if (!address || !stages) return undefined;
  const entries = stages.flatMap((stage, i) => {
    const place = source.place(`${pointer}/stages${join(i)}`);
    return stage === undefined ? [] : [readStage(stage, place)];
  });
  return { name, ...address, stages: entries, place: source.place(pointer, 'key') };
}

function readAt(
  source: Source,
  pointer: string,
  at: string,
): { method: string; path: string } | undefined {
  const [method = '', path = '', ...rest] = at.split(' ');
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([name]) => name);
  const sound = PATH.test(path) && new Set(names).size === names.length && rest.length === 0;
  if (sound && METHODS.includes(method)) return { method, path };
  const right = nearestWord(method, METHODS);
  const hint =
    sound && right && !source.hides(pointer)
      ? `did you mean "${right} ${path}"?`
      : `such as "POST /v1/NAME/{id}"`;
  const message = `at: ${source.word(pointer)} is not a method and a path`;
  source.fault(pointer, { code: 'bad_endpoint', message, hint });
  return undefined;
}

/** Two endpoints at one address: names between braces make no difference to a router. */
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

function shapeOf({ method, path }: EndpointEntry): string {
  return `${method} ${path.replaceAll(/\{\w+\}/g, '{}').replace(/(?<=.)\/$/, '')}`;
}

function standard(source: Source, { name, at, stages }: Standard): EndpointEntry {
  const [method = '', path = ''] = at.split(' ');
  const place = source.placeOf(0);
  return { name, method, path, stages: stages.map((stage) => readStage(stage, place)), place };
}

function readStage(stage: string | object, place: StageEntry['place']): StageEntry {
  if (typeof stage === 'string') return { name: stage, option: undefined, place };
  const [[name, option] = ['', undefined]] = Object.entries(stage);
  return { name, option, place };
}
