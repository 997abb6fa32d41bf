import { createHash } from 'node:crypto';
import { plainId } from '../../src/lib/tool-id.js';

const SAFE = /^[a-zA-Z0-9_-]{1,64}$/u;
const KEPT_CHARACTERS = 47;

/**
 * A tool call's id as Claude takes it: at most 64 letters, digits, `_` and `-`. Others, made by
 * another upstream earlier in the conversation, are replaced, the same id always by the same one.
 */
export function toolUseId(id: string): string {
  const plain = plainId(id);
  if (SAFE.test(plain)) return plain;
  const hash = createHash('sha256').update(plain).digest('hex').slice(0, 16);
  return `${plain.replace(/[^a-zA-Z0-9_-]/gu, '_').slice(0, KEPT_CHARACTERS)}_${hash}`;
}
