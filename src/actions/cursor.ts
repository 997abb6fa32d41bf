import { GatewayError } from '../core/errors.js';
import { parseJson } from '../lib/json-text.js';
import type { Place } from './action.js';

const CHARACTERS = 1_000;

/** Writes the end of a page as opaque text, which clients send to get the next page. */
export function writeCursor(place: Place): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** Reads a cursor. Throws `GatewayError` (400) for text that `writeCursor` has not made. */
export function readCursor<T>(text: string, isPlace: (place: unknown) => place is T): T {
  const isShort = text.length <= CHARACTERS;
  const place = isShort ? parseJson(Buffer.from(text, 'base64url').toString('utf8')) : undefined;
  if (isPlace(place)) return place;
  const message = 'cursor must be the next_cursor of the page before.';
  throw new GatewayError('invalid_request', message, { param: 'cursor' });
}

/** A number in the store: a time, or the ID of an entry. */
export function isNumber(place: unknown): place is number {
  return Number.isSafeInteger(place) && Number(place) >= 0;
}

/** A name or an ID in the store, without control characters. */
export function isName(place: unknown): place is string {
  return typeof place === 'string' && !/\p{Cc}/u.test(place);
}

/** A time with an ID, as several rows may have the same time. */
export function isMoment(place: unknown): place is readonly [number, string] {
  return Array.isArray(place) && place.length === 2 && isNumber(place[0]) && isName(place[1]);
}

/** The first `limit` rows, and the cursor of the next page if there is one more row. */
export function pageOf<T>(
  rows: readonly T[],
  limit: number,
  placeOf: (row: T) => Place,
): { rows: readonly T[]; next_cursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next_cursor = rows.length > limit && last ? writeCursor(placeOf(last)) : null;
  return { rows: shown, next_cursor };
}
