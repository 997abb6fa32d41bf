import { StoreError } from './store-error.js';

/** The limits of a 64-bit column: about 9.2 billion dollars either way. */
export const MIN_NANO = -(2n ** 63n);
export const MAX_NANO = 2n ** 63n - 1n;

/** The value of a boolean column, on either database. */
export function isTrue(column: unknown): boolean {
  return column === true || column === 1n;
}

/** The number of a nullable integer column. */
export function numberOrNull(column: bigint | null): number | null {
  return column === null ? null : Number(column);
}

export function fitsColumn(amount_nano: bigint): boolean {
  return amount_nano >= MIN_NANO && amount_nano <= MAX_NANO;
}

/**
 * An amount as a binding for knex, which cannot format a bigint when it reports an error of the
 * database. Both databases read the digits without loss.
 */
export function toBinding(amount_nano: bigint): string {
  return amount_nano.toString();
}

/**
 * Text of an upstream as both databases accept it: PostgreSQL refuses a NUL, and a lone surrogate
 * is not valid UTF-8. Both become the replacement character.
 */
export function toStorableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}

/** Whether a row can have this ID. No ID has a NUL, which PostgreSQL refuses in a query. */
export function isPossible(id: string): boolean {
  return !id.includes('\0');
}

/**
 * Invisible characters: controls, direction marks, characters without width, lone surrogates and
 * fillers. With them a name could look like another one.
 */
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u3164\uFFA0]/u;

/** Throws `StoreError` for an empty name, or a name with invisible characters. */
export function checkName(what: string, name: string): void {
  if (name.trim() === '') throw new StoreError(`${what} needs a name.`);
  if (!INVISIBLE.test(name)) return;
  const unseen = 'control characters, direction marks or characters without width';
  throw new StoreError(`The name of ${what.toLowerCase()} cannot hold ${unseen}.`);
}

const REFERENCE_CHARACTERS = 200;

/**
 * The reference of a credit or a refund, without the spaces around it. Throws `StoreError` for an
 * empty one, such as an unset variable of a script: all credits after the first would be repeats.
 */
export function checkedReference(text: string): string {
  const reference = text.trim();
  const isLong = Array.from(reference).length > REFERENCE_CHARACTERS;
  if (reference !== '' && !isLong && !INVISIBLE.test(reference)) return reference;
  throw new StoreError(
    `A reference is text of one line, of 1 to ${REFERENCE_CHARACTERS} characters.`,
  );
}
