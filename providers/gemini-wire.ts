import { isRecord, recordsIn } from '../src/lib/objects.js';
import { classifyErrorInside } from '../src/upstream/classify-error.js';
import type { Provider } from '../src/core/provider.js';
import { UpstreamError } from '../src/core/upstream-error.js';

/** A JSON object of a Gemini body. */
export type GeminiObject = Record<string, unknown>;

/** Only these are safe within a path that we build. */
const MODEL = /^[A-Za-z0-9][A-Za-z0-9._@-]*$/u;

/** A model's ID without the `models/` that some write before it. */
export function modelOf(model: string): string {
  const id = model.replace(/^models\//u, '');
  if (MODEL.test(id)) return id;
  throw new UpstreamError('missing', 'The upstream does not serve this model.');
}

/** The answer to a call, which some paths wrap in a list. Throws the error that it may be. */
export function answerIn(body: unknown, provider: Provider): GeminiObject {
  const answer: unknown = Array.isArray(body) ? body[0] : body;
  if (!isRecord(answer)) throw broken("The upstream's answer is not a JSON object.");
  if (isRecord(answer.error)) throw classifyErrorInside(answer, provider);
  return answer;
}

export function broken(message: string): UpstreamError {
  return new UpstreamError('broken', message);
}

/** The object in a field; an empty one if there is none. */
export function objectIn(fields: GeminiObject, name: string): GeminiObject {
  const value = fields[name];
  return isRecord(value) ? value : {};
}

/** The objects of the list in a field; empty if it is not a list. */
export function listIn(fields: GeminiObject, name: string): GeminiObject[] {
  return recordsIn(fields[name]);
}

/** A text that is not empty; undefined otherwise. */
export function textIn(fields: GeminiObject, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A count; 0 if there is none. */
export function countIn(fields: GeminiObject, name: string): number {
  const value = fields[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
