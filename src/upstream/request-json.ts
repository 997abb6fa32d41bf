import type { Encoded, Provider, WireAnswer, WireRequest } from '../core/provider.js';
import type { UpstreamError } from '../core/upstream-error.js';
import type { LightAbortSignal } from '../lib/abort.js';
import type { AnswerRoom } from './answer-body.js';
import { classifyError } from './classify-error.js';
import type { Network } from './network-types.js';
import { isOk, readError, readJson } from './read-answer.js';

/** The client for whom a call is made: its signal ends the call, its room bounds the answer. */
export interface Caller {
  signal: LightAbortSignal;
  room?: AnswerRoom | undefined;
}

/** A request of a codec as it goes over the wire; `path` is used where the codec names none. */
export function jsonRequest(encoded: Encoded, path: string): WireRequest {
  return {
    method: 'POST',
    path: encoded.path || path,
    headers: { 'content-type': 'application/json', ...encoded.headers },
    body: JSON.stringify(encoded.body),
  };
}

/** Sends a request. Throws `UpstreamError` unless the status of the answer is 2xx. */
export async function requestOk(
  network: Network,
  provider: Provider,
  wire: WireRequest,
  signal: LightAbortSignal,
): Promise<WireAnswer> {
  const answer = await network.send(provider, wire, signal);
  if (!isOk(answer.status)) throw await errorOf(answer, provider);
  return answer;
}

/** Sends a request and reads its JSON answer. Throws `UpstreamError` for every failure. */
export async function requestJson(
  network: Network,
  provider: Provider,
  wire: WireRequest,
  limit_bytes: number,
  { signal, room }: Caller,
): Promise<unknown> {
  return readJson(await requestOk(network, provider, wire, signal), limit_bytes, room);
}

/** Reads and classifies the error that an answer carries. */
export async function errorOf(answer: WireAnswer, provider: Provider): Promise<UpstreamError> {
  const { status, headers } = answer;
  return classifyError(status, headers, await readError(answer), provider);
}
