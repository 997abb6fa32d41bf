import { resolve } from 'node:path';
import { nearestWord } from '../yaml/did-you-mean.js';
import { meantPostgres } from './postgres-url.js';
import {
  readPostgresPlace,
  SESSION_WORDS,
  sessionWordOf,
} from '../store/postgres/postgres-place.js';
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
    addFault(source, 'store does not begin with sqlite: or postgres://', schemeHint(source, text));
  } else if (!SCHEMES.includes(scheme)) {
    const word = source.hides(POINTER) ? 'this' : quote(scheme);
    addFault(source, `store: ${word} is no kind of store`, kindHint(source, scheme, text));
  } else if (scheme === 'sqlite') {
    return readPath(source, text.slice('sqlite:'.length), directory);
  } else if (!firstUrlOf(text) || !text.startsWith(`${scheme}://`)) {
    const wrongPort = portHint(source.written(POINTER));
    const hint = wrongPort ?? passwordHint(source) ?? malformedHint(text, source.hides(POINTER));
    addFault(source, `store: this ${quote(scheme)} URL is not well formed`, hint);
  } else checkPostgres(source, new URL(firstUrlOf(text) ?? text), text);
  return text;
}

/** The URL of the first host of a store; undefined for a text that is no URL. */
function firstUrlOf(text: string): string | undefined {
  return readPostgresPlace(text)?.urls[0] ?? (URL.canParse(text) ? text : undefined);
}

const LOOKS = 'it looks like postgres://USER:PASSWORD@HOST/DATABASE';
const ESCAPES = 'in a password # is written as %23, / as %2F, ? as %3F and @ as %40';
const BOTH = 'write sqlite:data/tollgate.db or postgres://USER:PASSWORD@HOST/DATABASE';

function schemeHint(source: Source, text: string): string {
  if (/^postgres(?:ql)?$/i.test(text)) return LOOKS;
  if (/^postgres(?:ql)?[;/]/i.test(text)) {
    return `the colon is missing: ${postgresHint(source, text)}`;
  }
  if (/(?:^|\s)dbname=/.test(text)) return postgresHint(source, text);
  const [, name] = /^(?:\$|os\.environ\/|env[:.])([A-Za-z_]\w*)$/.exec(text) ?? [];
  if (name !== undefined && !source.hides(POINTER)) return `write "\${${name}}"`;
  const isPath = /^[\w./-]+\.\w+$/.test(text) && !source.hides(POINTER);
  return isPath && !text.startsWith('os.') ? `did you mean "sqlite:${text}"?` : BOTH;
}

/** The URL that was most likely meant, which the file may show; else the form of one. */
function postgresHint(source: Source, text: string): string {
  const meant = source.hides(POINTER) ? undefined : meantPostgres(text);
  if (meant === undefined) return LOOKS;
  return meant.includes('$') ? `write ${meant}, and set that variable` : `write ${meant}`;
}

/** The hint for a password from a variable, which is to be written there as URLs have it. */
function passwordHint(source: Source): string | undefined {
  const [, name] = /:\$\{(\w{1,100})\}@/.exec(source.written(POINTER)) ?? [];
  return name && `in the value of ${name} write # as %23, / as %2F, ? as %3F and @ as %40`;
}

/** The part of a PostgreSQL URL that cannot be read. What stands before the last @ is secret. */
function malformedHint(text: string, isHidden: boolean): string {
  const at = text.lastIndexOf('@');
  const [, before = ''] = /^\w+:\/\/(.*)$/.exec(text.slice(0, Math.max(at, 0))) ?? [];
  if (/[#/?]/.test(before) || text.includes('#')) return ESCAPES;
  return at < 0 || isHidden ? LOOKS : (portHint(text) ?? LOOKS);
}

/**
 * The hint for a port that is none, behind the last @. A text that does not begin as a port may be
 * a password in a wrong place.
 */
function portHint(text: string): string | undefined {
  const [, port] = /@[^/:@]*:(\d\w{0,5})(?=$|[/?])[^@]*$/.exec(text) ?? [];
  const isPort = port === undefined || (/^\d+$/.test(port) && Number(port) <= 65_535);
  return isPort ? undefined : `${quote(port)} is no port: write 5432`;
}

/** `postgresql+asyncpg` and `jdbc` belong to the libraries of other languages. */
function kindHint(source: Source, scheme: string, text: string): string {
  if (/^(?:postgres(?:ql)?\+|jdbc$|pgsql$|psql$)/i.test(scheme)) return postgresHint(source, text);
  const near = nearestWord(scheme, SCHEMES);
  return near === undefined ? BOTH : `did you mean "${near}"?`;
}

/** Checks a URL whose variables are not known, as far as it is written out. */
export function checkUnreadStore(source: Source): void {
  if (!source.invalid_pointers.has(POINTER)) return;
  const plain = source.written(POINTER).replaceAll(/\$\{[^}]*\}/g, 'x');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(plain)?.[1];
  if (scheme !== undefined && !SCHEMES.includes(scheme)) {
    const message = `store: ${quote(scheme)} is no kind of store`;
    const near = nearestWord(scheme, SCHEMES);
    const hint = near === undefined ? BOTH : `did you mean "${near}"?`;
    source.faultAsWritten(POINTER, { code: 'bad_store', message, hint });
  }
}

function checkPostgres(source: Source, url: URL, text: string): void {
  const word = sessionWordOf(text);
  if (url.hash !== '') {
    addFault(source, 'store: a # cannot stand in the URL of a database', ESCAPES);
  } else if (url.pathname.includes('@')) {
    addFault(source, 'store: an @ stands behind the name of the host', ESCAPES);
  } else if (word !== undefined && !SESSION_WORDS.includes(word)) {
    const message = `store: target_session_attrs=${word} names no host that takes writes`;
    const near = nearestWord(word, SESSION_WORDS) ?? 'read-write';
    addFault(source, message, `write target_session_attrs=${near}`);
  }
}

function readPath(source: Source, path: string, directory: string): string {
  if (path === '' || /^:(?!memory:$)/.test(path) || path.endsWith('/')) {
    addFault(source, 'store: sqlite: needs the path of a file', 'such as sqlite:data/tollgate.db');
  }
  if (path === ':memory:') {
    const message = 'store: accounts and charges in memory are lost when the gateway stops';
    addFault(source, message, 'write sqlite:data/tollgate.db');
    return `sqlite:${path}`;
  }
  if (path.startsWith('~')) {
    const hint = `write the whole path, such as sqlite:/home/USER${path.slice(1)}`;
    addFault(source, 'store: ~ is not replaced by a home folder here', hint);
  }
  if (/^\/\/[^/]/.test(path)) {
    const hint =
      'write sqlite:data/tollgate.db, or sqlite:/var/lib/tollgate.db: no // stands there';
    addFault(source, 'store: // stands before the name of a host, and SQLite has a file', hint);
  }
  return `sqlite:${resolve(directory, path.replace(/^\/\/(?=\/)/, ''))}`;
}

function addFault(source: Source, message: string, hint: string): void {
  source.fault(POINTER, { code: 'bad_store', message, hint });
}
