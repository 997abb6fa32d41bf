import { isRecord } from '../is-record.js';
import { UpstreamError } from '../upstream/fault.js';
import type { Json, JsonObject } from '../video/codec.js';

/** A value that templates made, as JSON: what JSON cannot say is null, as it would be written. */
export function asJson(value: unknown): Json {
  if (Array.isArray(value)) return value.map(asJson);
  if (isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, asJson(one)]));
  }
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** The state of a task. Throws `UpstreamError` where the answer gave nothing to remember. */
export function asState(value: unknown): JsonObject {
  if (!isRecord(value) || Object.keys(value).length === 0) {
    throw new UpstreamError('broken', 'The upstream began no video.');
  }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, asJson(one)]));
}
