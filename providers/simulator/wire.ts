import { parseJson } from '../../src/lib/json-text.js';
import { isRecord } from '../../src/lib/objects.js';
import type { WireReply, WireRequest } from '../../src/core/provider.js';

/** The fields of a JSON body, or of an object in it. */
export type BodyFields = Record<string, unknown>;

/** An error answer, in the shape that clients of the chat wire parse. */
export interface Refusal {
  status: number;
  type: string;
  message: string;
  code?: string;
  param?: string;
}

export const NOT_JSON: Refusal = {
  status: 400,
  type: 'invalid_request_error',
  message: 'The body is not a JSON object.',
};

export function refuse({ status, type, message, code, param }: Refusal): WireReply {
  const error = { message, type, param: param ?? null, code: code ?? null };
  const answer = respond(status, 'application/json', once(JSON.stringify({ error })));
  return status === 429
    ? { ...answer, headers: { ...answer.headers, 'retry-after': '1' } }
    : answer;
}

/** A 400 about one field. */
export function reject(param: string, message: string): WireReply {
  return refuse({ status: 400, type: 'invalid_request_error', message, param });
}

export function respond(
  status: number,
  type: string,
  body: AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>> = {},
): WireReply {
  return { status, headers: { 'content-type': type, ...headers }, body };
}

/** The object in a field; an empty one if there is none. */
export function recordIn(fields: BodyFields, name: string): BodyFields {
  const value = fields[name];
  return isRecord(value) ? value : {};
}

/** A 200 with a JSON document; cut half-way for a drill. */
export function document(value: unknown, isCut = false): WireReply {
  return respond(200, 'application/json', once(JSON.stringify(value), isCut));
}

/** Text as a body; of one that is cut only the first half comes, and then an error. */
export async function* once(text: string, isCut = false): AsyncGenerator<Uint8Array> {
  yield Buffer.from(isCut ? text.slice(0, text.length / 2) : text);
  if (isCut) throw new Error('The drill cut the answer.');
}

/** The JSON object in the body of a request; undefined if there is none. */
export function parse(body: WireRequest['body']): BodyFields | undefined {
  const text = typeof body === 'string' ? body : Buffer.from(body ?? []).toString('utf8');
  const parsed = parseJson(text);
  return isRecord(parsed) ? parsed : undefined;
}

/** A number in fields or settings; undefined if there is none. */
export function numberIn(fields: Readonly<BodyFields>, name: string): number | undefined {
  const value = fields[name];
  return typeof value === 'number' ? value : undefined;
}

/** A text in fields or settings; undefined if there is none. */
export function textIn(fields: Readonly<BodyFields>, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}

/** Whether a value is a whole number from 1 to `most`. */
export function isCount(value: unknown, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most;
}

/** The text fields of a form that has an image; undefined for any other body. */
export async function formIn({ body, headers }: WireRequest): Promise<BodyFields | undefined> {
  try {
    const bytes = typeof body === 'string' ? body : new Uint8Array(body ?? []);
    const form = await new Response(bytes, { headers: { ...headers } }).formData();
    const entries = [...form].filter(([, value]) => typeof value === 'string');
    const { n = 1, ...fields }: BodyFields = Object.fromEntries(entries);
    const isEdit = form.has('image') || form.has('image[]');
    return isEdit ? { ...fields, n: Number(n) } : undefined;
  } catch {
    return undefined;
  }
}
