import { GatewayError } from '../../core/errors.js';

const CHARACTERS = 1_000;

/** Where a page ended, as one word that clients hand back and need not understand. */
export function writeCursor(place: string | number | readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** Throws `GatewayError` (400) for a word that `writeCursor` has not made of such a place. */
export function readCursor<T>(text: string, isPlace: (place: unknown) => place is T): T {
  const place = text.length <= CHARACTERS ? parse(text) : undefined;
  if (isPlace(place)) return place;
  const message = 'cursor must be the next_cursor of the page before.';
  throw new GatewayError('invalid_request', message, { param: 'cursor' });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

/** A number of the store: a time, or the ID of an entry. */
export function isNumber(place: unknown): place is number {
  return Number.isSafeInteger(place) && Number(place) >= 0;
}

/** A name or an ID of the store, which holds no control characters. */
export function isName(place: unknown): place is string {
  return typeof place === 'string' && !/\p{Cc}/u.test(place);
}

/** The time at which something was made, and its ID, as many may be made at once. */
export function isMoment(place: unknown): place is readonly [number, string] {
  return Array.isArray(place) && place.length === 2 && isNumber(place[0]) && isName(place[1]);
}

/** So many of the rows, which are one more where another page follows, and the cursor for it. */
export function pageOf<T>(
  rows: readonly T[],
  limit: number,
  placeOf: (row: T) => Parameters<typeof writeCursor>[0],
): { rows: readonly T[]; next_cursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next_cursor = rows.length > limit && last ? writeCursor(placeOf(last)) : null;
  return { rows: shown, next_cursor };
}
