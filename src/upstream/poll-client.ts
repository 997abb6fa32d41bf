import { once } from 'node:events';
import { Agent as HttpAgent, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { TLSSocket } from 'node:tls';
import {
  got,
  RequestError,
  type Got,
  type Request,
  type PlainResponse,
  type StreamOptions,
} from 'got';
import type { Provider, Timeouts, WireReply, WireRequest } from '../core/provider.js';
import { LightAbortController } from '../lib/light-abort.js';
import { isForeign, isOwn, urlOf, isOk, readBytes, readError } from './upstream-request.js';
import { lookupPublic, assertPublic } from './ssrf-guard.js';
import { connectionError } from './connection-error.js';
import { joinHeaders } from './response-headers.js';
import { PhaseTimer, type Phase } from './phase-timer.js';
import type { Network } from './network-types.js';
import { UpstreamError } from '../core/upstream-error.js';

/** An answer of any status, with its whole body. */
export interface PollAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
}

/** Asks an upstream about work in flight, such as whether a task is done. */
export interface PollClient {
  /**
   * Asks once: no retry, no redirect. Any status is an answer. Rejects with `UpstreamError` if no
   * answer comes, and with `ReplyTooLarge` for an answer larger than `limit_bytes`.
   */
  ask(provider: Provider, request: WireRequest, limit_bytes: number): Promise<PollAnswer>;
  close(): void;
}

/** The longest time that a poll may take, where the provider's own timeouts are longer. */
const TOTAL_MS = 60_000;

/** Makes a client with its own sockets, so that polls and calls never wait for each other. */
export function createPollClient(network: Network): PollClient {
  const agents = [newAgents(), newAgents()] as const;
  const client = got.extend({
    agent: agents[0],
    retry: { limit: 0 },
    throwHttpErrors: false,
    followRedirect: false,
  });
  // Upstreams choose these addresses, so calls to them share no sockets with the provider.
  const outside = client.extend({ agent: agents[1], dnsLookup: lookupPublic });
  return {
    ask: (provider, request, limit_bytes) =>
      provider.local
        ? askInProcess(network, provider, request, limit_bytes)
        : askByNetwork({ client, outside }, provider, request, limit_bytes),
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

/** The provider's timeouts, with the limit of a poll. */
function timeoutsOf({ timeouts }: Provider): Timeouts {
  return { ...timeouts, total_ms: Math.min(timeouts.total_ms, TOTAL_MS) };
}

async function askInProcess(
  network: Network,
  provider: Provider,
  request: WireRequest,
  limit_bytes: number,
): Promise<PollAnswer> {
  const timed = { ...provider, timeouts: timeoutsOf(provider) };
  const reply = await network.send(timed, request, new LightAbortController());
  return answerOf(reply, limit_bytes);
}

async function askByNetwork(
  { client, outside }: { client: Got; outside: Got },
  provider: Provider,
  request: WireRequest,
  limit_bytes: number,
): Promise<PollAnswer> {
  const url = urlOf(provider, request.path);
  const isOutside = isForeign(provider, request.path);
  if (isOutside) assertPublic(url.href);
  const stream = (isOutside ? outside : client).stream(url, optionsOf(provider, request, url));
  // Without a listener an early error would be thrown. The next reader gets the error too.
  stream.on('error', () => undefined);
  const timer = timePhases(stream, timeoutsOf(provider));
  try {
    const [{ statusCode: status, headers }] = (await once(stream, 'response')) as [PlainResponse];
    return await answerOf({ status, headers: joinHeaders(headers), body: stream }, limit_bytes);
  } catch (error) {
    throw toUpstreamError(error, timer.phase);
  } finally {
    timer.stop();
    stream.destroy();
  }
}

/** Times a poll as an `UpstreamCall` times a call. */
function timePhases(stream: Request, timeouts: Timeouts): PhaseTimer {
  const fail = (error: UpstreamError): void => void stream.destroy(error);
  const timer = new PhaseTimer(timeouts, { isPaused: false, fail });
  const connected = (): void => timer.enter('first_byte', timeouts.first_byte_ms);
  stream.on('request', (request: ClientRequest) => {
    request.once('socket', (socket) => {
      if (!socket.connecting) return connected();
      socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', connected);
    });
  });
  stream.once('response', () => timer.enter('idle', timeouts.idle_ms));
  stream.on('downloadProgress', () => timer.restart());
  return timer;
}

async function answerOf(reply: WireReply, limit_bytes: number): Promise<PollAnswer> {
  const { status, headers } = reply;
  const text = isOk(status) ? await readWhole(reply, limit_bytes) : await readError(reply);
  return { status, headers, text };
}

async function readWhole(reply: WireReply, limit_bytes: number): Promise<string> {
  return (await readBytes(reply, limit_bytes)).toString('utf8');
}

function optionsOf(
  provider: Provider,
  { method, headers, body, credentials }: WireRequest,
  url: URL,
): StreamOptions {
  const own = credentials !== false && isOwn(provider, url);
  return {
    method,
    headers: { 'user-agent': 'tollgate', ...headers, ...(own && provider.headers) },
    // Without a body, got would wait for one to be written.
    ...(method === 'GET' ? body !== undefined && { body } : { body: body ?? '' }),
  };
}

function toUpstreamError(error: unknown, phase: Phase): UpstreamError {
  if (error instanceof UpstreamError) return error;
  if (!(error instanceof RequestError)) throw error;
  if (phase === 'connect') return connectionError(error, 'nothing');
  return connectionError(error, phase === 'first_byte' ? 'upstream' : 'answer');
}
