import type { Encoded, Provider, WireAnswer, WireRequest } from '../core/provider.js';
import { UpstreamError } from '../core/upstream-error.js';
import type { LightAbortSignal } from '../lib/in-flight.js';
import { type AnswerMemory, AnswerBody, AnswerTooLarge } from './answer-body.js';
import { classifyError } from './classify-error.js';
import { ERROR_BYTES } from './error-body.js';
import type { Network } from './network-types.js';
import { decode, LARGE_BYTES, countValues } from '../lib/json-text.js';

/** The client of a call. Its signal ends the call, and its memory budget limits the answer. */
export interface CallScope {
  signal: LightAbortSignal;
  memory?: AnswerMemory | undefined;
}

/** The wire request of a codec's request, as JSON. `path` is used if the codec names none. */
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
  if (!isOk(answer.status)) throw await errorOf(answer, provider, wire.body);
  return answer;
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
  answer: WireAnswer,
  provider: Provider,
  sent?: WireRequest['body'],
): Promise<UpstreamError> {
  const { status, headers } = answer;
  return classifyError(status, headers, await readError(answer), provider, sent);
}

/**
 * Parsing more values would block other requests. An answer with the log probabilities of all its
 * tokens has fewer.
 */
const MAX_VALUES = 500_000;

export function isOk(status: number): boolean {
  return status >= 200 && status <= 299;
}

/**
 * Reads the whole body as JSON, within a limit. Throws `UpstreamError` (broken) for a body that is
 * larger, empty or not JSON. Some upstreams send blank lines first to keep a call alive; they are
 * white space to JSON.
 */
export async function readJson(
  answer: WireAnswer,
  limit_bytes: number,
  memory?: AnswerMemory,
): Promise<unknown> {
  const bytes = await readBytes(answer, limit_bytes, memory);
  if (bytes.length > LARGE_BYTES && 'over' in countValues(bytes, MAX_VALUES)) {
    throw new UpstreamError('broken', "The upstream's answer has too many JSON values.");
  }
  const text = bytes.length > LARGE_BYTES ? await decode(bytes) : bytes.toString('utf8');
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    const fault = text.trim() === '' ? 'empty' : 'not JSON';
    throw new UpstreamError('broken', `The upstream's answer is ${fault}.`);
  }
}

/**
 * Reads the beginning of a body as text, for an answer that is a failure anyway. A body that is
 * longer or cut off is no further error.
 */
export async function readText(answer: WireAnswer, limit_bytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer.body) {
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
export async function skipBody(answer: WireAnswer): Promise<void> {
  await readText(answer, UNREAD_BYTES);
}

/** Reads the body of an error, up to `ERROR_BYTES`. */
export function readError(answer: WireAnswer): Promise<string> {
  return readText(answer, ERROR_BYTES);
}

/** Reads the whole body. Throws `AnswerTooLarge` for a body that is larger than the limit. */
export function readBytes(
  { body }: WireAnswer,
  limit_bytes: number,
  memory?: AnswerMemory,
): Promise<Buffer> {
  if (body instanceof AnswerBody) return body.readAll(limit_bytes, memory);
  return gathered(body, limit_bytes, memory);
}

async function gathered(
  body: WireAnswer['body'],
  limit_bytes: number,
  memory: AnswerMemory | undefined,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > limit_bytes) throw new AnswerTooLarge(limit_bytes);
    memory?.grow(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
