import { once } from 'node:events';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  got,
  RequestError,
  TimeoutError,
  type Got,
  type PlainResponse,
  type StreamOptions,
} from 'got';
import type { Provider, WireRequest } from '../core/provider.js';
import { isForeign, isOwn, urlOf } from './address.js';
import { lookupPublic, assertPublic } from './ssrf-guard.js';
import { readError, readText } from './read-answer.js';
import type { Network } from './network-types.js';
import { UpstreamError } from '../core/upstream-error.js';

export interface ControlAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
}

/** Small questions about work that is under way, such as whether a task is done. */
export interface PollClient {
  /**
   * Asks once: no retry, no redirect. Rejects with `UpstreamError` where there is no answer, or one
   * larger than `limit_bytes`; any status is an answer.
   */
  ask(provider: Provider, request: WireRequest, limit_bytes: number): Promise<ControlAnswer>;
  close(): void;
}

/** Asked again, the question would have the same answer. */
export class AnswerTooLarge extends UpstreamError {
  constructor(limit_bytes: number) {
    super('broken', `The upstream's answer is larger than ${limit_bytes} bytes.`);
  }
}

/** The most that such a question may take, however patient the provider's own timeouts are. */
const TOTAL_MS = 60_000;

/** Keeps its sockets apart from those that carry answers, so that neither waits for the other. */
export function createPollClient(network: Network): PollClient {
  const agents = [newAgents(), newAgents()] as const;
  const client = got.extend({
    agent: agents[0],
    retry: { limit: 0 },
    throwHttpErrors: false,
    followRedirect: false,
  });
  // A socket of the one is never used by the other, whose addresses upstreams choose.
  const outside = client.extend({ agent: agents[1], dnsLookup: lookupPublic });
  return {
    ask: (provider, request, limit_bytes) =>
      provider.local
        ? askLocally(network, provider, request, limit_bytes)
        : askFar({ client, outside }, provider, request, limit_bytes),
    close: () => {
      for (const { http, https } of agents) {
        http.destroy();
        https.destroy();
      }
    },
  };
}

function newAgents(): { http: HttpAgent; https: HttpsAgent } {
  return { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
}

async function askLocally(
  network: Network,
  provider: Provider,
  request: WireRequest,
  limit_bytes: number,
): Promise<ControlAnswer> {
  const signal = AbortSignal.timeout(TOTAL_MS);
  const answer = await network.send(provider, request, signal);
  const { status, headers } = answer;
  const isError = status < 200 || status > 299;
  const text = isError ? await readError(answer) : await readText(answer, limit_bytes);
  return { status, headers, text };
}

async function askFar(
  { client, outside }: { client: Got; outside: Got },
  provider: Provider,
  request: WireRequest,
  limit_bytes: number,
): Promise<ControlAnswer> {
  const url = urlOf(provider, request.path);
  const isOutside = isForeign(provider, request.path);
  if (isOutside) assertPublic(url.href);
  const by = isOutside ? outside : client;
  const stream = by.stream(url, optionsOf(provider, request, url));
  // An error that comes while nobody reads is told to whoever reads next.
  stream.on('error', () => undefined);
  try {
    const [{ statusCode: status, headers }] = (await once(stream, 'response')) as [PlainResponse];
    const answer = { status, headers: plain(headers), body: stream };
    const isError = status < 200 || status > 299;
    const text = await (isError ? readError(answer) : whole(stream, limit_bytes));
    return { status, headers: answer.headers, text };
  } catch (error) {
    throw faultOf(error);
  } finally {
    stream.destroy();
  }
}

async function whole(body: AsyncIterable<Buffer>, limit_bytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > limit_bytes) throw new AnswerTooLarge(limit_bytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function optionsOf(
  provider: Provider,
  { method, headers, body, credentials }: WireRequest,
  url: URL,
): StreamOptions {
  const own = credentials !== false && isOwn(provider, url);
  const { connect_ms, first_byte_ms, total_ms } = provider.timeouts;
  return {
    method,
    headers: { 'user-agent': 'tollgate', ...headers, ...(own && provider.headers) },
    ...(body !== undefined && { body }),
    timeout: {
      connect: connect_ms,
      response: first_byte_ms,
      request: Math.min(total_ms, TOTAL_MS),
    },
  };
}

function faultOf(error: unknown): UpstreamError {
  if (error instanceof TimeoutError) {
    return new UpstreamError('timeout', 'The upstream timed out.', undefined, { cause: error });
  }
  if (!(error instanceof RequestError)) throw error;
  if (error.cause instanceof UpstreamError) return error.cause;
  const refused = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/u;
  const [fault, message] = refused.test(error.code)
    ? (['unreachable', 'The upstream is unreachable.'] as const)
    : (['broken', 'The upstream failed.'] as const);
  return new UpstreamError(fault, message, undefined, { cause: error });
}

function plain(raw: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(raw).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}
