import { isRecord } from '../../lib/objects.js';
import type { Json, JsonObject } from '../../core/json.js';
import { UpstreamError } from '../../core/upstream-error.js';

/** The most characters of a state, which the store keeps with its task. */
const MAX_CHARACTERS = 64 * 1024;

/** The value of a template as JSON. A value that JSON does not have becomes null. */
export function asJson(value: unknown): Json {
  if (Array.isArray(value)) return value.map(asJson);
  if (isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, asJson(one)]));
  }
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** The state of a task. Throws `UpstreamError` if it is empty or too large. */
export function asState(value: unknown): JsonObject {
  if (!isRecord(value) || Object.keys(value).length === 0) {
    throw new UpstreamError('broken', 'The upstream returned no data about the video.');
  }
  const entries = Object.entries(value).map(([key, one]) => [key, asJson(one)] as const);
  const state = Object.fromEntries(entries);
  if (JSON.stringify(state).length <= MAX_CHARACTERS) return state;
  throw new UpstreamError('broken', 'The upstream returned too much data about the video.');
}
