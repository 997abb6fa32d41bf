import { isPrivate } from '../upstream/ssrf-guard.js';
import { distance } from '../yaml/did-you-mean.js';
import { quote, type Source } from '../yaml/source.js';
import type { Manifest } from './adapter.js';

/** Reports addresses that no call of the manifest can reach, or that would disclose keys. */
export function checkBaseUrl(
  source: Source,
  place: string,
  url: string,
  data: Manifest['data'],
): void {
  if (source.hides(place)) return;
  const { protocol, hostname, pathname } = new URL(url);
  if (/^your[-_.]|[-_.]your[-_.]|your[-_]?(?:host|resource|domain)/i.test(hostname)) {
    const message = `base_url: the host ${quote(hostname)} is a stand-in for the real one`;
    source.fault(place, {
      code: 'placeholder',
      message,
      hint: 'write the address of the provider',
    });
    return;
  }
  if (!checkHost(source, place, url, data.base_url))
    checkPath(source, place, url, { pathname, data });
  checkLocation(source, place, url);
  checkPlain(source, place, url, data);
  // A name without a dot is one of a private network, such as that of containers.
  const isOwn = !hostname.includes('.') || isPrivate(new URL(url));
  if (protocol !== 'http:' || isOwn) return;
  const message = 'base_url: keys and prompts travel to this public host without TLS';
  const hint = `did you mean "${url.replace(/^http:/i, 'https:')}"?`;
  source.fault(place, { code: 'insecure_url', message, hint, severity: 'warning' });
}

/** Warns of TLS on the port where such a server speaks plain HTTP by default. */
function checkPlain(source: Source, place: string, url: string, data: Manifest['data']): void {
  const { protocol, port, hostname } = new URL(url);
  // A server in another network may well have a certificate.
  const isNear = !hostname.includes('.') || /^(?:127\.|\[::1\])/.test(hostname);
  const usual = [data.base_url, ...Object.values(data.init?.local ?? {})];
  const plain = usual.find(
    (one) => one?.startsWith('http:') && URL.canParse(one) && new URL(one).port === port,
  );
  if (protocol !== 'https:' || port === '' || plain === undefined || !isNear) return;
  const message = `base_url: on port ${port} such a server speaks plain HTTP, and no TLS`;
  const hint = `did you mean "${url.replace(/^https:/i, 'http:')}"?`;
  source.fault(place, { code: 'base_url_tls', message, hint, severity: 'warning' });
}

/** Warns of a misspelt host, whose owner would get the keys, and of a host of web pages. */
function checkHost(source: Source, place: string, url: string, usual: unknown): boolean {
  const [, own] = /^https?:\/\/([\w.-]+)/.exec(typeof usual === 'string' ? usual : '') ?? [];
  const { hostname } = new URL(url);
  if (own === undefined || hostname === own) return false;
  if (/^(?:platform|console|www|chat|dashboard|app|docs|(?:ai)?studio)\./.test(hostname)) {
    const [site = '', api = ''] = [hostname, own].map((host) => host.split('.').at(-2));
    // An API may have a longer name than its pages, such as ACMEAPIS beside ACME.
    const isSame = api.startsWith(site);
    if (isSame) reportPage(source, place, hostname, String(usual));
    return isSame;
  }
  if (lastLabel(own) !== lastLabel(hostname)) return false;
  // Regions and machines differ by their numbers.
  const [given, right] = [hostname, own].map((host) => host.replaceAll(/\d+/g, '0'));
  if (given === undefined || right === undefined || own.length < LONG_HOST) return false;
  const slips = distance(given, right);
  if (slips === 0 || slips > 2) return false;
  const message = `base_url: the host ${quote(hostname)} is nearly that of the manifest`;
  const hint = `did you mean "${url.replace(hostname, own)}"?`;
  source.fault(place, { code: 'base_url_host', message, hint, severity: 'warning' });
  return true;
}

function reportPage(source: Source, place: string, hostname: string, usual: string): void {
  const message = `base_url: ${quote(hostname)} has web pages for people, and no API`;
  const hint = `write ${usual}, or leave base_url out`;
  source.fault(place, { code: 'base_url_host', message, hint, severity: 'warning' });
}

/** Shorter hosts may be alike by chance. */
const LONG_HOST = 12;

function lastLabel(host: string): string {
  return host.slice(host.lastIndexOf('.') + 1);
}

interface Path {
  pathname: string;
  data: Manifest['data'];
}

/** The paths of operations are joined to the base URL, which must not have them itself. */
function checkPath(source: Source, place: string, url: string, { pathname, data }: Path): void {
  const paths = Object.values(data.operations ?? {}).flatMap((operation) => {
    const path = (operation as { path?: unknown } | undefined)?.path;
    return typeof path === 'string' && path.length > 1 ? [path] : [];
  });
  const doubled = [...paths, '/models', '/completions', '/responses', '/embeddings'].find(
    (path) => {
      return pathname.endsWith(path);
    },
  );
  if (doubled !== undefined) {
    const message = `base_url: the gateway adds ${quote(doubled)} itself`;
    const hint = `write "${url.slice(0, -doubled.length)}"`;
    source.fault(place, { code: 'base_url_path', message, hint, severity: 'warning' });
    return;
  }
  const [twice] = /(\/[\w.-]+)\1(?=\/|$)/.exec(pathname) ?? [];
  const own =
    typeof data.base_url === 'string' ? /^https?:\/\/[^/]+(\/.+)$/.exec(data.base_url) : null;
  const usual = own?.[1] ?? '';
  let message = '';
  let right = url;
  if (twice !== undefined) {
    message = `base_url: ${quote(pathname)} has one part twice`;
    right = url.replace(twice, twice.slice(0, twice.length / 2));
  } else if (pathname === '/' && /^[\w./-]+$/.test(usual)) {
    message = `base_url: the path ${quote(usual)} is missing, which the manifest's own address has`;
    right = `${url}${usual}`;
  } else if (pathname === '/api' && /^\/v\d$/.test(usual)) {
    message = 'base_url: the path "/api" takes another wire than this manifest speaks';
    right = url.replace(/\/api$/, usual);
  } else if (lacksVersion(url, pathname, data.base_url)) {
    message = `base_url: the path ${quote(usual)} is missing, which the manifest's own address has`;
    right = url.replace(pathname, `${usual}${pathname}`);
  } else if (isPartOf(url, data.base_url)) {
    message = `base_url: ${quote(pathname)} is only a part of the path that the manifest has`;
    right = String(data.base_url);
  } else return;
  const hint = `did you mean "${right}"?`;
  source.fault(place, { code: 'base_url_path', message, hint, severity: 'warning' });
}

/** Whether the path lacks parts of that of the manifest's address at the same host. */
function isPartOf(url: string, usual: unknown): boolean {
  if (typeof usual !== 'string' || !URL.canParse(usual)) return false;
  const [given, whole] = [new URL(url), new URL(usual)];
  const [parts, all] = [given, whole].map(({ pathname }) => pathname.split('/').filter(Boolean));
  if (given.host !== whole.host || !parts || !all || parts.length >= all.length) return false;
  return parts.every((part, at) => all.indexOf(part) >= at);
}

/** Whether the version is missing that the manifest's address of the same site begins with. */
function lacksVersion(url: string, pathname: string, usual: unknown): boolean {
  if (typeof usual !== 'string' || !URL.canParse(usual)) return false;
  const { pathname: version, hostname } = new URL(usual);
  const siteOf = (host: string): string => host.split('.').slice(-2).join('.');
  const isSite = siteOf(hostname) === siteOf(new URL(url).hostname);
  return isSite && /^\/v\d\w*$/.test(version) && !/\/v\d/.test(pathname);
}

/** Warns of an address whose host is of another region than its path. */
function checkLocation(source: Source, place: string, url: string): void {
  const { hostname, pathname } = new URL(url);
  const [, host] = /^([a-z]+-[a-z]+\d{1,2})-/.exec(hostname) ?? [];
  const [, location] = /\/locations\/([\w-]+)/.exec(pathname) ?? [];
  if (host === undefined || location === undefined || host === location) return;
  const message = `base_url: the host is of ${quote(host)}, and the path of ${quote(location)}`;
  const hint = `did you mean "${url.replace(`//${host}-`, `//${location}-`)}"?`;
  source.fault(place, { code: 'base_url_region', message, hint, severity: 'warning' });
}
