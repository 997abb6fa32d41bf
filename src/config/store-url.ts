import { resolve } from 'node:path';
import { nearestWord } from '../yaml/did-you-mean.js';
import { meantPostgres } from './postgres-url.js';
import {
  readPostgresHosts,
  SESSION_WORDS,
  sessionWordOf,
} from '../store/postgres/postgres-place.js';
import { label, quote, type Source } from '../yaml/source.js';

const SCHEMES = ['sqlite', 'postgres', 'postgresql'];
/**
 * The URL of the store: `sqlite:` with an absolute path, or a PostgreSQL URL as written. It may
 * hold a password, so faults show no more of it than its scheme.
 */
export function readStoreUrl(source: Source, at: string, text: string, directory: string): string {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1];
  if (scheme === undefined) {
    const message = `${label(at)} does not begin with sqlite: or postgres://`;
    source.fault(at, { code: 'bad_store', message, hint: schemeHint(source, at, text) });
  } else if (!SCHEMES.includes(scheme)) {
    const word = source.hides(at) ? 'this' : quote(scheme);
    addFault(source, at, `${word} is no kind of store`, kindHint(source, at, scheme, text));
  } else if (scheme === 'sqlite') {
    return readPath(source, at, text.slice('sqlite:'.length), directory);
  } else if (!firstUrlOf(text) || !text.startsWith(`${scheme}://`)) {
    const wrongPort = portHint(source.written(at));
    const hint = wrongPort ?? passwordHint(source, at) ?? malformedHint(text, source.hides(at));
    addFault(source, at, `this ${quote(scheme)} URL is not well formed`, hint);
  } else checkPostgres(source, at, new URL(firstUrlOf(text) ?? text), text);
  return text;
}

/** The URL of the same PostgreSQL past a pooler. */
export function readSessionUrl(source: Source, at: string, text: string): string {
  if (!text.startsWith('sqlite:')) return readStoreUrl(source, at, text, '');
  addFault(source, at, 'SQLite has no sessions', 'write postgres://USER:PASSWORD@HOST/DATABASE');
  return text;
}

/** The URL of the first host of a store; undefined for a text that is no URL. */
function firstUrlOf(text: string): string | undefined {
  return readPostgresHosts(text)?.urls[0] ?? (URL.canParse(text) ? text : undefined);
}

const LOOKS = 'it looks like postgres://USER:PASSWORD@HOST/DATABASE';
const ESCAPES = 'in a password # is written as %23, / as %2F, ? as %3F and @ as %40';
const BOTH = 'write sqlite:data/tollgate.db or postgres://USER:PASSWORD@HOST/DATABASE';

function schemeHint(source: Source, at: string, text: string): string {
  if (/^postgres(?:ql)?$/i.test(text)) return LOOKS;
  if (/^postgres(?:ql)?[;/]/i.test(text)) {
    return `the colon is missing: ${postgresHint(source, at, text)}`;
  }
  if (/(?:^|\s)dbname=/.test(text)) return postgresHint(source, at, text);
  const [, name] = /^(?:\$|os\.environ\/|env[:.])([A-Za-z_]\w*)$/.exec(text) ?? [];
  if (name !== undefined && !source.hides(at)) return `write "\${${name}}"`;
  const isPath = /^[\w./-]+\.\w+$/.test(text) && !source.hides(at);
  return isPath && !text.startsWith('os.') ? `did you mean "sqlite:${text}"?` : BOTH;
}

/** The URL that was most likely meant, which the file may show; else the form of one. */
function postgresHint(source: Source, at: string, text: string): string {
  const meant = source.hides(at) ? undefined : meantPostgres(text);
  if (meant === undefined) return LOOKS;
  return meant.includes('$') ? `write ${meant}, and set that variable` : `write ${meant}`;
}

/** The hint for a password from a variable, which is to be written there as URLs have it. */
function passwordHint(source: Source, at: string): string | undefined {
  const [, name] = /:\$\{(\w{1,100})\}@/.exec(source.written(at)) ?? [];
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
function kindHint(source: Source, at: string, scheme: string, text: string): string {
  if (/^(?:postgres(?:ql)?\+|jdbc$|pgsql$|psql$)/i.test(scheme))
    return postgresHint(source, at, text);
  const near = nearestWord(scheme, SCHEMES);
  return near === undefined ? BOTH : `did you mean "${near}"?`;
}

/** Checks a URL whose variables are not known, as far as it is written out. */
export function checkUnreadStore(source: Source, at: string): void {
  if (!source.invalid_pointers.has(at)) return;
  const plain = source.written(at).replaceAll(/\$\{[^}]*\}/g, 'x');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(plain)?.[1];
  if (scheme !== undefined && !SCHEMES.includes(scheme)) {
    const message = `${label(at)}: ${quote(scheme)} is no kind of store`;
    const near = nearestWord(scheme, SCHEMES);
    const hint = near === undefined ? BOTH : `did you mean "${near}"?`;
    source.faultAsWritten(at, { code: 'bad_store', message, hint });
  }
}

function checkPostgres(source: Source, at: string, url: URL, text: string): void {
  const word = sessionWordOf(text);
  if (url.hash !== '') {
    addFault(source, at, 'a # cannot stand in the URL of a database', ESCAPES);
  } else if (url.pathname.includes('@')) {
    addFault(source, at, 'an @ stands behind the name of the host', ESCAPES);
  } else if (word !== undefined && !SESSION_WORDS.includes(word)) {
    const message = `target_session_attrs=${word} names no host that takes writes`;
    const near = nearestWord(word, SESSION_WORDS) ?? 'read-write';
    addFault(source, at, message, `write target_session_attrs=${near}`);
  }
}

function readPath(source: Source, at: string, path: string, directory: string): string {
  if (path === '' || /^:(?!memory:$)/.test(path) || path.endsWith('/')) {
    addFault(source, at, 'sqlite: needs the path of a file', 'such as sqlite:data/tollgate.db');
  }
  if (path === ':memory:') {
    const message = 'accounts and charges in memory are lost when the gateway stops';
    addFault(source, at, message, 'write sqlite:data/tollgate.db');
    return `sqlite:${path}`;
  }
  if (path.startsWith('~')) {
    const hint = `write the whole path, such as sqlite:/home/USER${path.slice(1)}`;
    addFault(source, at, '~ is not replaced by a home folder here', hint);
  }
  if (/^\/\/[^/]/.test(path)) {
    const hint =
      'write sqlite:data/tollgate.db, or sqlite:/var/lib/tollgate.db: no // stands there';
    addFault(source, at, '// stands before the name of a host, and SQLite has a file', hint);
  }
  return `sqlite:${resolve(directory, path.replace(/^\/\/(?=\/)/, ''))}`;
}

function addFault(source: Source, at: string, message: string, hint: string): void {
  source.fault(at, { code: 'bad_store', message: `${label(at)}: ${message}`, hint });
}
