import { parseJson } from '../lib/json-text.js';
import { isRecord } from '../lib/objects.js';
import type { ErrorWords, ErrorReader } from '../core/upstream-error.js';

/** The part of an error's body that is read. The message is well within it. */
export const ERROR_BYTES = 64 * 1024;

const UNPARSED_CHARACTERS = 300;
const CODE = /^[\w.-]{1,64}$/u;
const MAX_CODES = 6;

/** Reads the text of an error body. A text that is not JSON is its own message. */
export function readErrorText(text: string): ErrorWords {
  const body = parseJson(text);
  if (body !== undefined) return readErrorBody(body);
  return { ...words({}, ''), message: text.trim().slice(0, UNPARSED_CHARACTERS) };
}

/**
 * Reads a parsed error body. In this order: the first element of an array; an `error` that is an
 * object; an `error` that is text; a top-level `message`; a `detail` that is text or a list.
 */
export function readErrorBody(body: unknown): ErrorWords {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  return isRecord(first) ? readRecord(first) : words({}, textOfValue(first));
}

function readRecord(body: Record<string, unknown>): ErrorWords {
  const { error, detail } = body;
  if (isRecord(error))
    return withReason(words({ ...error, outer: body.code }, textOfValue(error.message)), error);
  if (typeof error === 'string') return words(body, error);
  if (typeof body.message === 'string') return words(body, body.message);
  return words({ ...body, details: detail ?? body.details }, detailText(detail));
}

/** Reads a body with the reader of the provider's manifest, if it has one. */
export function applyErrorReader(
  body: unknown,
  status: number | undefined,
  plain: ErrorWords,
  reader: ErrorReader | undefined,
  headers: Readonly<Record<string, string>> = {},
): ReturnType<ErrorReader> {
  if (!reader) return plain;
  return reader(
    typeof body === 'string' ? (parseJson(body) ?? body) : body,
    status,
    plain,
    headers,
  );
}

function words(error: Record<string, unknown>, message: string): ErrorWords {
  const details = [error, ...records(error.details)];
  const inner = isRecord(error.innererror) ? error.innererror : {};
  const marks = [error.code, error.type, error.status, error.outer, inner.code];
  const delays = details.map((detail) => parseFloat(textOfValue(detail.retryDelay)));
  const all = [...marks, ...details.flatMap((detail) => [detail.reason, detail.type])]
    .map(textOfValue)
    .filter((mark) => mark !== '');
  return {
    message,
    marks: all.join(' ').toLowerCase(),
    codes: [...new Set(all)].filter((mark) => CODE.test(mark)).slice(0, MAX_CODES),
    status: [error.status_code, error.code, error.status].map(Number).find(isStatus),
    retry_seconds: delays.find((delay) => delay >= 0),
  };
}

/** Resellers put the real reason of their own upstream into `metadata.raw`. */
function withReason(told: ErrorWords, { metadata }: Record<string, unknown>): ErrorWords {
  const raw = isRecord(metadata) ? metadata.raw : undefined;
  if (typeof raw !== 'string' || raw.trim() === '') return told;
  const reason = readErrorText(raw);
  return {
    ...told,
    message: reason.message || told.message,
    marks: `${told.marks} ${reason.marks}`.trim(),
    codes: [...new Set([...told.codes, ...reason.codes])].slice(0, MAX_CODES),
  };
}

function detailText(detail: unknown): string {
  if (!Array.isArray(detail)) return textOfValue(detail);
  return detail
    .map((item: unknown) => (isRecord(item) ? textOfValue(item.msg) : textOfValue(item)))
    .filter((text) => text !== '')
    .join('; ');
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function textOfValue(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function isStatus(code: number): boolean {
  return Number.isInteger(code) && code >= 400 && code <= 599;
}
