import { label } from './schema-errors.js';
import type { Source } from './source.js';

/**
 * Reads an http(s) URL and removes its closing slash, so that a path can follow. Anything else is a
 * fault, and its message does not show a URL with a password.
 */
export function readUrl(source: Source, pointer: string, text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const name = label(pointer);
  if (url && (url.username !== '' || url.password !== '')) {
    const message = `${name} must not hold a user name or password`;
    source.fault(pointer, { code: 'bad_url', message, hint: 'use api_key or headers' });
    return undefined;
  }
  if (!url || !/^https?:$/.test(url.protocol) || !/^https?:\/\/[^\s]+$/i.test(text)) {
    const message = `${name}: ${source.word(pointer)} is not an http or https URL`;
    source.fault(pointer, { code: 'bad_url', message, hint: 'it looks like https://HOST/PATH' });
    return undefined;
  }
  if (/[?#]/.test(text)) {
    const message = `${name}: ${source.word(pointer)} has a part behind ? or #`;
    source.fault(pointer, { code: 'bad_url', message, hint: 'end it with the path' });
    return undefined;
  }
  return text.replace(/\/+$/, '');
}
