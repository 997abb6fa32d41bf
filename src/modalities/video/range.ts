import type { Context } from '../../pipeline/stage.js';

/** Bytes from `start` to `end`, both included. */
export interface Span {
  start: number;
  end: number;
}

const ONE_RANGE = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/u;

/**
 * The `Range` of a request if it is a single range of bytes. Any other is ignored, as HTTP allows.
 * Answers have no validators, so an `If-Range` never matches.
 */
export function rangeOf(headers: Context['req']['headers']): string | undefined {
  const range = headers.range?.trim().replaceAll(' ', '');
  if (range === undefined || headers['if-range'] !== undefined) return undefined;
  const [, start, end] = ONE_RANGE.exec(range) ?? [];
  const isBackward = start !== undefined && end !== undefined && Number(end) < Number(start);
  return ONE_RANGE.test(range) && !isBackward ? range : undefined;
}

/** The bytes that a range selects of `size` bytes; undefined if it selects none. */
export function spanOf(range: string, size: number): Span | undefined {
  const [, start, end, last] = ONE_RANGE.exec(range) ?? [];
  const from = start === undefined ? Math.max(size - Number(last), 0) : Number(start);
  const to = end === undefined ? size - 1 : Math.min(Number(end), size - 1);
  return from <= to ? { start: from, end: to } : undefined;
}

/** Yields the bytes of a span, and stops reading after them. */
export async function* slice(
  body: AsyncIterable<Uint8Array>,
  { start, end }: Span,
): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const chunk of body) {
    const from = Math.max(start - at, 0);
    const to = Math.min(end + 1 - at, chunk.length);
    if (from < to) yield chunk.subarray(from, to);
    at += chunk.length;
    if (at > end) return;
  }
}
