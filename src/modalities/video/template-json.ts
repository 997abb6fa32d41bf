import { isRecord } from '../../lib/is-record.js';
import type { Json, JsonObject } from '../../core/json.js';
import { UpstreamError } from '../../core/upstream-error.js';

/** A state is kept with its task, so it is no place for files. */
const MAX_CHARACTERS = 64 * 1024;

/** A value that templates made, as JSON: what JSON cannot say is null, as it would be written. */
export function asJson(value: unknown): Json {
  if (Array.isArray(value)) return value.map(asJson);
  if (isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, asJson(one)]));
  }
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** The state of a task. Throws `UpstreamError` where there is nothing to remember, or too much. */
export function asState(value: unknown): JsonObject {
  if (!isRecord(value) || Object.keys(value).length === 0) {
    throw new UpstreamError('broken', 'The upstream began no video.');
  }
  const entries = Object.entries(value).map(([key, one]) => [key, asJson(one)] as const);
  const state = Object.fromEntries(entries);
  if (JSON.stringify(state).length <= MAX_CHARACTERS) return state;
  throw new UpstreamError('broken', 'The upstream says too much of a video that it begins.');
}
