import { hash, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 36;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^tg-[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/** How the secret of a management token begins. */
export const TOKEN_PREFIX = 'tgm_';

/** How many characters of a secret are kept, to recognise it by. */
export const PREFIX_LENGTH = 10;

/** Random base62 text of `length` characters, about 5.95 bits each. */
export function randomText(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

/**
 * A new API key: `tg-`, 36 random characters and a checksum of 6. By the checksum, scanners tell
 * leaked keys from noise, and a mistyped key is refused without a query. The secret of a management
 * token differs in its prefix.
 */
export function makeSecret(prefix: 'tg-' | typeof TOKEN_PREFIX = 'tg-'): string {
  const random = randomText(RANDOM_LENGTH);
  return `${prefix}${random}${checksum(random)}`;
}

/** Whether the text has the shape and the checksum of a key that `makeSecret` made. */
export function isWellFormed(secret: string): boolean {
  if (!SHAPE.test(secret)) return false;
  const random = secret.slice(3, 3 + RANDOM_LENGTH);
  return secret.endsWith(checksum(random));
}

/** The SHA-256 of the secret as 64 hexadecimal digits, the only form of it that is stored. */
export function sha256(secret: string): string {
  return hash('sha256', secret);
}

/** A secret of 32 random bytes (base64url) for a browser, and its hash, which is stored. */
export function makeOneTimeToken(): { secret: string; secret_sha256: string } {
  const secret = randomBytes(32).toString('base64url');
  return { secret, secret_sha256: sha256(secret) };
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  while (rest > 0) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits.padStart(CHECKSUM_LENGTH, '0');
}
