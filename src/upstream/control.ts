import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { got, RequestError, TimeoutError, type Got, type OptionsOfTextResponseBody } from 'got';
import type { Provider, WireRequest } from '../types.js';
import { isOwn, urlOf } from './address.js';
import { UpstreamError } from './fault.js';
import { readText } from './read.js';
import type { Network } from './types.js';

export interface ControlAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
}

/** Small questions about work that is under way, such as whether a task is done. */
export interface Control {
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
export function createControl(network: Network): Control {
  const agent = {
    http: new HttpAgent({ keepAlive: true }),
    https: new HttpsAgent({ keepAlive: true }),
  };
  const client = got.extend({
    agent,
    retry: { limit: 0 },
    throwHttpErrors: false,
    followRedirect: false,
    responseType: 'text',
  });
  return {
    ask: (provider, request, limit_bytes) =>
      provider.local
        ? askLocally(network, provider, request, limit_bytes)
        : askFar(client, provider, request, limit_bytes),
    close: () => {
      agent.http.destroy();
      agent.https.destroy();
    },
  };
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
  return { status, headers, text: await readText(answer, limit_bytes) };
}

async function askFar(
  client: Got,
  provider: Provider,
  request: WireRequest,
  limit_bytes: number,
): Promise<ControlAnswer> {
  const url = urlOf(provider, request.path);
  const abort = new AbortController();
  const asking = client(url, { ...optionsOf(provider, request, url), signal: abort.signal });
  void asking.on('downloadProgress', ({ transferred }) => {
    if (transferred > limit_bytes) abort.abort();
  });
  try {
    const { statusCode, headers, body } = await asking;
    return { status: statusCode, headers: plain(headers), text: body };
  } catch (error) {
    throw abort.signal.aborted ? new AnswerTooLarge(limit_bytes) : faultOf(error);
  }
}

function optionsOf(
  provider: Provider,
  { method, headers, body, credentials }: WireRequest,
  url: URL,
): OptionsOfTextResponseBody {
  const own = credentials !== false && isOwn(provider, url);
  const { connect_ms, first_byte_ms, total_ms } = provider.timeouts;
  return {
    method,
    responseType: 'text',
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
