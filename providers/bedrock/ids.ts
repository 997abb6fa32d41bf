import { createHash } from 'node:crypto';
import { plainId } from '../tool-id.js';

const SOUND = /^[a-zA-Z0-9_-]{1,64}$/u;
const KEPT_CHARACTERS = 40;

/**
 * A tool call's id as Converse takes it. One that another upstream made with other characters is
 * replaced, always by the same one, and two different ids never by one.
 */
export function toolUseId(id: string): string {
  const plain = plainId(id);
  if (SOUND.test(plain)) return plain;
  const kept = plain.replace(/[^a-zA-Z0-9_-]/gu, '_').slice(0, KEPT_CHARACTERS);
  return `${kept}_${createHash('sha256').update(plain).digest('hex').slice(0, 16)}`;
}
