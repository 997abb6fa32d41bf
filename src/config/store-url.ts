import { resolve } from 'node:path';
import { nearestWord } from '../yaml/did-you-mean.js';
import { quote, type Source } from '../yaml/source.js';

const SCHEMES = ['sqlite', 'postgres', 'postgresql'];
const POINTER = '/store';

/**
 * The URL of the store: `sqlite:` with an absolute path, or a PostgreSQL URL as written. It may
 * hold a password, so faults show no more of it than its scheme.
 */
export function readStoreUrl(source: Source, text: string, directory: string): string {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1];
  if (scheme === undefined) {
    const path = /^[\w./-]+\.\w+$/.test(text) && !source.hides(POINTER) ? text : undefined;
    const hint = path ? `did you mean "sqlite:${path}"?` : 'such as sqlite:data/tollgate.db';
    tell(source, 'store does not begin with sqlite: or postgres://', hint);
  } else if (!SCHEMES.includes(scheme)) {
    const near = nearestWord(scheme, SCHEMES);
    const hint = near === undefined ? 'use sqlite: or postgres://' : `did you mean "${near}"?`;
    const word = source.hides(POINTER) ? 'this' : quote(scheme);
    tell(source, `store: ${word} is no kind of store`, hint);
  } else if (scheme === 'sqlite') {
    return readPath(source, text.slice('sqlite:'.length), directory);
  } else if (!URL.canParse(text) || !text.startsWith(`${scheme}://`)) {
    const hint = 'it looks like postgres://USER:PASSWORD@HOST/DATABASE';
    tell(source, `store: this ${quote(scheme)} URL is not well formed`, hint);
  }
  return text;
}

function readPath(source: Source, path: string, directory: string): string {
  if (path === '' || path.startsWith(':') || path.endsWith('/')) {
    tell(source, 'store: sqlite: needs the path of a file', 'such as sqlite:data/tollgate.db');
  }
  return `sqlite:${resolve(directory, path.replace(/^\/\/(?=\/)/, ''))}`;
}

function tell(source: Source, message: string, hint: string): void {
  source.fault(POINTER, { code: 'bad_store', message, hint });
}
