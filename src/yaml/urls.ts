import { nearestWord } from './did-you-mean.js';
import { MISPLACED_KEY } from './key-hints.js';
import { isKey } from './secrets.js';
import { label, type Source } from './source.js';

/**
 * Reads an http(s) URL and removes its closing slash, so that a path can follow. Anything else is a
 * fault, and its message does not show a URL with a password. `usual` is a URL whose path a text
 * without one most likely lacks too.
 */
export function readUrl(
  source: Source,
  pointer: string,
  text: string,
  usual = '',
): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const name = label(pointer);
  if (url && (url.username !== '' || url.password !== '')) {
    const message = `${name} must not hold a user name or password`;
    source.fault(pointer, { code: 'bad_url', message, hint: 'use api_key or headers' });
    return undefined;
  }
  if (!url || !/^https?:$/.test(url.protocol) || !/^https?:\/\/[^\s]+$/i.test(text)) {
    const message = `${name}: ${source.word(pointer)} is not an http or https URL`;
    const near = source.hides(pointer) ? undefined : meantUrl(text, usual);
    const isMail = /^(?:mailto:)?[^\s@/]+@[^\s@/]+\.\w+$/.test(text);
    const hint = near ?? (isMail ? NO_MAIL : 'it looks like https://HOST/PATH');
    source.fault(pointer, { code: 'bad_url', message, hint });
    return undefined;
  }
  if (/[?#]/.test(text)) {
    const message = `${name}: ${source.word(pointer)} has a part behind ? or #`;
    source.fault(pointer, {
      code: 'bad_url',
      message,
      hint: pathHint(source, pointer, text, usual),
    });
    return undefined;
  }
  return text.replace(/\/+$/, '');
}

const NO_MAIL = 'no mail is sent: write the address of a service, such as https://HOST/PATH';

/** Paths of single operations, which the gateway adds itself. */
const OPERATION = /\/(?:chat\/completions|completions|responses|embeddings|deployments\/.*)$/;

function pathHint(source: Source, pointer: string, text: string, usual: string): string {
  if (source.hides(pointer)) return 'end it with the path';
  const [whole = '', query = ''] = text.split(/[?#]/, 2);
  const [, usual_path] = /^https?:\/\/[^/]+(\/[\w./-]*)$/.exec(usual) ?? [];
  const path =
    usual_path !== undefined && OPERATION.test(whole) ? new URL(whole).origin + usual_path : whole;
  const isKeyed = /^\/providers\/.*\/base_url$/.test(pointer) && /key|token/i.test(query);
  return `write ${path}${isKeyed ? ', and the key as api_key' : ''}`;
}

const SCHEMES = ['http', 'https'];

/** A hint with the URL that a text most likely means, or with the reason why it is no URL. */
function meantUrl(text: string, usual: string): string | undefined {
  if (isKey(text)) return MISPLACED_KEY;
  const [, port] = /^https?:\/\/[^/]*:(\d+)(?:\/|$)/i.exec(text) ?? [];
  if (Number(port) > 65_535) return 'a port is a number up to 65535';
  if (/\s/.test(text)) return `remove the space: ${text.replaceAll(/\s/g, '')}`;
  const [, quoted = ''] = /^[“„‘'"](.+)[“”‘’'"]$/.exec(text) ?? [];
  if (URL.canParse(quoted)) return `write ${quoted}`;
  if (/[<>]/.test(text)) return 'put the real host in the place of <...>';
  const [, scheme, rest] = /^([a-z]+):?\/{1,3}(?=[^/])(.+)$/i.exec(text) ?? [];
  const right = scheme === undefined ? undefined : nearestWord(scheme, SCHEMES);
  const host = /^[\w.-]+(?::\d{1,5})?(?:\/\S*)?$/.test(text) ? text : undefined;
  const whole = right ? `${right}://${rest}` : host && `${schemeOf(host)}://${host}`;
  if (whole === undefined || !URL.canParse(whole)) return undefined;
  const hasPath = new URL(whole).pathname !== '/' || !URL.canParse(usual);
  const path = hasPath ? '' : new URL(usual).pathname.replace(/\/$/, '');
  return `did you mean "${whole}${path}"?`;
}

/** Suggests `http` for an IP address, a port or a name without a dot: the host is a local one. */
function schemeOf(host: string): 'http' | 'https' {
  const isOwn = /^[\d.]+(?:[:/]|$)|^[^/]*:\d|^[\w-]+(?:[:/]|$)/.test(host);
  return isOwn ? 'http' : 'https';
}
