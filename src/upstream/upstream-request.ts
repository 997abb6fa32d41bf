import type { Encoded, Provider, WireReply, WireRequest } from '../core/provider.js';
import { UpstreamError } from '../core/upstream-error.js';
import type { LightAbortSignal } from '../lib/light-abort.js';
import { longWorkTurns } from '../lib/event-loop-turns.js';
import type { SourceTexts } from '../lib/source-texts.js';
import { type ReplyMemory, ReplyBody, ReplyTooLarge } from './reply-body.js';
import { classifyError } from './classify-error.js';
import { ERROR_BYTES } from './error-body.js';
import type { Network } from './network-types.js';
import {
  ANSWER_VALUES,
  countValues,
  decode,
  LARGE_BYTES,
  parseCounted,
  SHALLOW_BYTES,
} from '../lib/json-text.js';

/** The client of a call. Its signal ends the call, and its memory budget limits the answer. */
export interface CallScope {
  signal: LightAbortSignal;
  memory?: ReplyMemory | undefined;
}

/**
 * The wire request of a codec's request, as JSON. `path` is used if the codec names none. `texts`
 * are those of the client's body.
 */
export function jsonRequest(encoded: Encoded, path: string, texts?: SourceTexts): WireRequest {
  return {
    method: 'POST',
    path: encoded.path || path,
    headers: { 'content-type': 'application/json', ...encoded.headers },
    body: texts ? texts.write(encoded.body) : JSON.stringify(encoded.body),
  };
}

/** Sends a request. Throws `UpstreamError` unless the status of the answer is 2xx. */
export async function requestOk(
  network: Network,
  provider: Provider,
  wire: WireRequest,
  signal: LightAbortSignal,
): Promise<WireReply> {
  // Writing a large body took long, and sending it takes as long: other requests get a turn.
  if ((wire.body?.length ?? 0) > LARGE_BYTES) await longWorkTurns.next();
  const reply = await network.send(provider, wire, signal);
  if (!isOk(reply.status)) throw await errorOf(reply, provider, wire.body);
  return reply;
}

/** Sends a request and reads its JSON answer. Throws `UpstreamError` for every failure. */
export async function requestJson(
  network: Network,
  provider: Provider,
  wire: WireRequest,
  limit_bytes: number,
  { signal, memory }: CallScope,
): Promise<unknown> {
  return readJson(await requestOk(network, provider, wire, signal), limit_bytes, memory);
}

/** Reads and classifies the error of an answer. `sent` is the body of the request. */
export async function errorOf(
  reply: WireReply,
  provider: Provider,
  sent?: WireRequest['body'],
): Promise<UpstreamError> {
  const { status, headers } = reply;
  return classifyError(status, headers, await readError(reply), provider, sent);
}

export function isOk(status: number): boolean {
  return status >= 200 && status <= 299;
}

const TOO_COMPLEX = {
  values: "The upstream's answer has too many JSON values.",
  depth: "The upstream's answer is nested too deep.",
};

/**
 * Reads the whole body as JSON, within a limit. Throws `UpstreamError` (broken) for a body that is
 * larger, empty or not JSON. Some upstreams send blank lines first to keep a call alive; they are
 * white space to JSON.
 */
export async function readJson(
  reply: WireReply,
  limit_bytes: number,
  memory?: ReplyMemory,
): Promise<unknown> {
  const bytes = await readBytes(reply, limit_bytes, memory);
  if (bytes.length > SHALLOW_BYTES) {
    const counted = countValues(bytes, ANSWER_VALUES);
    if ('over' in counted) throw new UpstreamError('broken', TOO_COMPLEX[counted.over]);
  }
  const text = bytes.length > LARGE_BYTES ? await decode(bytes) : bytes.toString('utf8');
  const body = parseCounted(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  if (body !== undefined) return body;
  const fault = text.trim() === '' ? 'empty' : 'not JSON';
  throw new UpstreamError('broken', `The upstream's answer is ${fault}.`);
}

/**
 * Reads the beginning of a body as text, for an answer that is a failure anyway. A body that is
 * longer or cut off is no further error.
 */
export async function readText(reply: WireReply, limit_bytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of reply.body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= limit_bytes) break;
    }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
  }
  return Buffer.concat(chunks).subarray(0, limit_bytes).toString('utf8');
}

/** The part of an unwanted body that is read, so that its socket can be used again. */
const UNREAD_BYTES = 1_024;

/** Reads the body of an answer that nobody needs, if it is short. */
export async function skipBody(reply: WireReply): Promise<void> {
  await readText(reply, UNREAD_BYTES);
}

/** Reads the body of an error, up to `ERROR_BYTES`. */
export function readError(reply: WireReply): Promise<string> {
  return readText(reply, ERROR_BYTES);
}

/** Reads the whole body. Throws `ReplyTooLarge` for a body that is larger than the limit. */
export function readBytes(
  { body }: WireReply,
  limit_bytes: number,
  memory?: ReplyMemory,
): Promise<Buffer> {
  if (body instanceof ReplyBody) return body.readAll(limit_bytes, memory);
  return gathered(body, limit_bytes, memory);
}

async function gathered(
  body: WireReply['body'],
  limit_bytes: number,
  memory: ReplyMemory | undefined,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > limit_bytes) throw new ReplyTooLarge(limit_bytes);
    memory?.grow(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export function isAbsolute(path: string): boolean {
  return /^https?:\/\//iu.test(path);
}

/** A base URL in its parts; the path does not end with a slash. */
export interface Base {
  origin: string;
  path: string;
  query: string;
}

export function baseOf({ base_url }: Pick<Provider, 'base_url'>): Base {
  const { origin, pathname, search } = new URL(base_url);
  return { origin, path: pathname.replace(/\/+$/u, ''), query: search.slice(1) };
}

/** The origin and the path of a request, whose own path may be a whole URL. */
export function addressOf(
  { origin, path, query }: Base,
  request_path: string,
): { origin: string; path: string } {
  if (isAbsolute(request_path)) {
    const url = new URL(request_path);
    return { origin: url.origin, path: url.pathname + url.search };
  }
  const joined = path + request_path;
  if (!query) return { origin, path: joined || '/' };
  return { origin, path: joined + (joined.includes('?') ? '&' : '?') + query };
}

/** The whole URL of a provider's path, as the network sends it. */
export function urlOf(provider: Pick<Provider, 'base_url'>, request_path: string): URL {
  if (isAbsolute(request_path)) return new URL(request_path);
  const { origin, path } = addressOf(baseOf(provider), request_path);
  return new URL(origin + path);
}

/**
 * Whether a path is an address that the operator did not choose. The operator chose the provider's
 * own origin and the hosts in `wire.image_hosts` of its manifest. An upstream or a client may have
 * named any other address, so it must be public.
 */
export function isForeign(provider: Pick<Provider, 'base_url' | 'wire'>, path: string): boolean {
  if (!isAbsolute(path)) return false;
  const url = new URL(path);
  return !isOwn(provider, url) && !isListed(provider, url);
}

/** Whether the manifest lists the host in `wire.image_hosts`, with its port or without. */
export function isListed({ wire }: Pick<Provider, 'wire'>, { host, hostname }: URL): boolean {
  const hosts = wire.image_hosts;
  return Array.isArray(hosts) && (hosts.includes(host) || hosts.includes(hostname));
}

/**
 * Whether an address is the provider's own, so that its key may go there: same scheme, host and
 * port, or a host that its manifest lists as `wire.key_hosts`. In `api.*.example.com` the star
 * stands for one word, and the scheme must be https.
 */
export function isOwn({ base_url, wire }: Pick<Provider, 'base_url' | 'wire'>, url: URL): boolean {
  if (base_url !== '' && new URL(base_url).origin === url.origin) return true;
  const hosts = wire.key_hosts;
  return Array.isArray(hosts) && hosts.some((host: unknown) => isHost(host, url));
}

function isHost(host: unknown, { protocol, host: given }: URL): boolean {
  if (typeof host !== 'string') return false;
  const [head = '', tail, ...more] = host.split('*');
  if (tail === undefined) return given === host;
  const isBetween = given.startsWith(head) && given.endsWith(tail) && more.length === 0;
  const word = given.slice(head.length, given.length - tail.length);
  return protocol === 'https:' && isBetween && /^[a-z0-9-]+$/u.test(word);
}
