import { isRecord } from '../lib/objects.js';
import type { SubSchema } from './schema-walk.js';
import { isKey } from './secrets.js';
import { segments } from './source.js';

/** The hint for a key of a provider that stands where another value is wanted. */
export const MISPLACED_KEY = 'this looks like a key: it belongs in api_key';

/** The hint for a text with a credential in the place of another value; else undefined. */
export function keyHint(text: string, pointer: string, part: SubSchema): string | undefined {
  const isHeader = /^\/providers\/.*\/headers$/.test(pointer);
  if (isHeader && /^authorization:/i.test(text)) return 'remove it: api_key writes it';
  const { properties } = part;
  const isProvider = isRecord(properties) && Object.hasOwn(properties, 'api_key');
  const name = (segments(pointer).at(-1) ?? '').toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  const line = `api_key: "\${${name}_API_KEY}"`;
  if (isProvider && /^api_key[:=\s]/.test(text)) {
    return `a colon and a space belong behind api_key: write ${line}`;
  }
  if (!isKey(text)) return undefined;
  return isProvider ? `write { ${line} }` : MISPLACED_KEY;
}
