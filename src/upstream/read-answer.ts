import type { WireAnswer } from '../core/provider.js';
import { decode, LARGE_BYTES, weigh } from '../lib/json-text.js';
import { AnswerBody, type AnswerRoom } from './answer-body.js';
import { UpstreamError } from '../core/upstream-error.js';

/** Parsing more would keep others waiting; an answer with the odds of all its tokens has fewer. */
const MOST_VALUES = 500_000;

/**
 * The whole body as JSON, within a limit. Throws `UpstreamError` (broken) for a body that is
 * larger, empty or not JSON. Blank lines before it, which some upstreams send to keep a call alive,
 * are white space to JSON.
 */
export async function readJson(
  answer: WireAnswer,
  limit_bytes: number,
  room?: AnswerRoom,
): Promise<unknown> {
  const bytes = await readBytes(answer, limit_bytes, room);
  if (bytes.length > LARGE_BYTES && 'over' in weigh(bytes, MOST_VALUES)) {
    throw new UpstreamError('broken', "The upstream's answer has too many JSON values.");
  }
  const text = bytes.length > LARGE_BYTES ? await decode(bytes) : bytes.toString('utf8');
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    const what = text.trim() === '' ? 'empty' : 'not JSON';
    throw new UpstreamError('broken', `The upstream's answer is ${what}.`);
  }
}

/**
 * The beginning of a body as text, for answers that are failures anyway: what is past the limit, or
 * was cut off, is not missed.
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

/** What an upstream says of a failure; an error that is larger says nothing more. */
export const ERROR_BYTES = 64 * 1024;

export function readError(answer: WireAnswer): Promise<string> {
  return readText(answer, ERROR_BYTES);
}

/** The whole body. Throws `UpstreamError` (broken) for one that is larger than the limit. */
export function readBytes(
  { body }: WireAnswer,
  limit_bytes: number,
  room?: AnswerRoom,
): Promise<Buffer> {
  if (body instanceof AnswerBody) return body.readAll(limit_bytes, room);
  return gathered(body, limit_bytes, room);
}

async function gathered(
  body: WireAnswer['body'],
  limit_bytes: number,
  room: AnswerRoom | undefined,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > limit_bytes) {
      const message = `The upstream's answer is larger than ${limit_bytes} bytes.`;
      throw new UpstreamError('broken', message);
    }
    room?.grow(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
