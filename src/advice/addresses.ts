import type { FinishedFile } from '../config/load.js';
import { isAddress } from '../lib/cidr.js';
import { isPrivate, isPublic } from '../upstream/ssrf-guard.js';
import { pointer as join, quote } from '../yaml/source.js';
import type { Advice } from './advice.js';
import { addressesOf, isNearly, isPage } from './secrets.js';

export const noTls: Advice = {
  code: 'no_tls',
  saves: 'the keys of clients and the cookies of people, which would travel in the clear',
  *check(view) {
    const { source, configuration } = view;
    const { listen, trusted_proxies } = configuration;
    const url = publicUrlOf(view);
    if (!url) return;
    if (isLoopback(listen.host)) {
      const isWeb = !isPrivate(url) && url.hostname.includes('.');
      const pointer = '/public_url';
      if (url.protocol !== 'http:' || !isWeb || !source.has(pointer) || source.hides(pointer))
        return;
      const right = configuration.public_url.replace(/^http:/i, 'https:');
      const message = `public_url: keys and cookies travel to ${quote(url.hostname)} without TLS`;
      yield { pointer, message, hint: `did you mean "${right}"?` };
      return;
    }
    if (isLoopback(url.hostname) || isAny(url.hostname)) return;
    const here = `listen: 127.0.0.1:${listen.port}`;
    const given = `listen: ${source.word('/listen')} takes calls of other machines`;
    if (url.protocol === 'http:') {
      const message = `${given}, and their keys travel without TLS`;
      const hint = `${proxyHint(url)}; if it is on this machine, also ${here}`;
      yield { pointer: '/listen', message, hint };
    } else if (trusted_proxies.length > 0 && trusted_proxies.every(isLoopbackNetwork)) {
      const message = `${given} without TLS, past the proxy on this one`;
      yield { pointer: '/listen', message, hint: `write ${here}` };
    }
  },
};

export const localPublicUrl: Advice = {
  code: 'public_url_local',
  saves: 'the first hour: links for people and clients that open nothing',
  *check(view) {
    const { source, configuration } = view;
    const { listen, trusted_proxies, sign_in } = configuration;
    const url = publicUrlOf(view);
    if (!url || !(isLoopback(url.hostname) || isAny(url.hostname))) return;
    const isWritten = source.has('/public_url') && !source.hides('/public_url');
    if (!isLoopback(listen.host)) {
      yield isWritten
        ? {
            pointer: '/public_url',
            message: 'only this machine can reach the public_url, but listen takes calls of others',
            hint: proxyHint(url),
          }
        : {
            pointer: '/listen',
            message: `listen: ${source.word('/listen')} takes calls of others, without public_url`,
            hint: proxyHint(url),
          };
    } else if (isWritten && trusted_proxies.length > 0 && sign_in.providers.size > 0) {
      const given = source.word('/public_url');
      yield {
        pointer: '/public_url',
        message: `public_url: people come through a proxy, and ${given} is their own machine`,
        hint: 'write the address that they open, such as https://ai.example.org',
      };
    }
  },
};

function publicUrlOf({ configuration: { public_url } }: FinishedFile): URL | undefined {
  return URL.canParse(public_url) ? new URL(public_url) : undefined;
}

function proxyHint({ hostname }: URL): string {
  const isKnown = hostname.includes('.') && !isAny(hostname) && !isAddress(hostname);
  const host = isKnown ? hostname : 'YOUR.HOST';
  return `put a proxy with TLS in front, and write public_url: https://${host}`;
}

export const publicMetrics: Advice = {
  code: 'metrics_public',
  saves: 'the revenue of each model, which others could read',
  *check({ source, configuration: { metrics } }) {
    if (!metrics || !(isAny(metrics.host) || isPublic(metrics.host))) return;
    const given = source.word('/metrics');
    yield {
      pointer: '/metrics',
      message: `metrics: ${given} shows other machines the calls of each model and their cost`,
      hint: `write 127.0.0.1:${metrics.port}, or an address of a private network`,
    };
  },
};

export const openNetwork: Advice = {
  code: 'open_network',
  saves: 'the limits of failed keys and sign-ins, which forged addresses would pass',
  *check({ source, configuration }) {
    for (const [i, network] of configuration.trusted_proxies.entries()) {
      if (!network.endsWith('/0')) continue;
      const pointer = `/trusted_proxies${join(i)}`;
      const given = source.word(pointer);
      const message = `trusted_proxies: ${given} lets every client claim any address`;
      const hint = 'write the address of the proxy, such as 127.0.0.1/32';
      yield { pointer, message, hint };
    }
  },
};

export const ownAddress: Advice = {
  code: 'own_address',
  saves: 'calls that the gateway would make to itself, each with a hold',
  *check({ source, providers, configuration: { listen, public_url } }) {
    const own = URL.canParse(public_url) ? new URL(public_url).host : '';
    for (const { pointer, url } of addressesOf({ source, providers })) {
      const { host, hostname, port } = new URL(url);
      if (host !== own && !(isLoopback(hostname) && port === String(listen.port))) continue;
      const message = `base_url: ${source.word(pointer)} is the address of this gateway`;
      const hint = 'write the address of the provider, or another port for listen';
      yield { pointer, message, hint };
    }
  },
};

/** Further paths that clients of such a wire add to a base URL. */
const USUAL_PATHS = ['/models', '/completions', '/responses', '/embeddings'];

export const basePath: Advice = {
  code: 'base_url_path',
  saves: 'the first hour: every call to a path that nothing serves fails',
  *check({ source, providers }) {
    for (const { pointer, url, read } of addressesOf({ source, providers })) {
      const { data } = read.manifest;
      const { pathname, hostname } = new URL(url);
      const host = URL.canParse(data.base_url ?? '') ? new URL(data.base_url ?? '').hostname : '';
      if (isNearly(hostname, host) || isPage(hostname, host)) continue;
      const paths = Object.values(data.operations ?? {}).flatMap((operation) => {
        const path = (operation as { path?: unknown } | undefined)?.path;
        return typeof path === 'string' && path.length > 1 ? [path] : [];
      });
      const doubled = [...paths, ...USUAL_PATHS].find((path) => pathname.endsWith(path));
      if (doubled !== undefined) {
        const message = `base_url: the gateway adds ${quote(doubled)} itself`;
        yield { pointer, message, hint: `write "${url.slice(0, -doubled.length)}"` };
        continue;
      }
      const usual = pathOf(data.base_url);
      const [twice = ''] = /(\/[\w.-]+)\1(?=\/|$)/.exec(pathname) ?? [];
      const isMissing = pathname === '/' || (pathname === '/api' && /^\/v\d$/.test(usual));
      const isLacking = usual !== '' && (isMissing || lacksVersion(url, data.base_url));
      if (twice === '' && !isLacking) continue;
      const right = twice
        ? url.replace(twice, twice.slice(0, twice.length / 2))
        : new URL(url).origin + usual + (isMissing ? '' : pathname);
      const message = twice
        ? `base_url: ${quote(pathname)} has one part twice`
        : `base_url: the path ${quote(usual)} is missing, which the manifest's own address has`;
      yield { pointer, message, hint: `did you mean "${right}"?` };
    }
  },
};

/** The path of a manifest's address; empty for none, and for one with a place in it. */
function pathOf(url = ''): string {
  return /^https?:\/\/[^/]+(\/[\w./-]+)$/.exec(url)?.[1] ?? '';
}

/** Whether the version is missing that the manifest's address of the same site begins with. */
function lacksVersion(url: string, usual = ''): boolean {
  if (!URL.canParse(usual)) return false;
  const siteOf = (host: string): string => host.split('.').slice(-2).join('.');
  const isSite = siteOf(new URL(usual).hostname) === siteOf(new URL(url).hostname);
  return isSite && /^\/v\d\w*$/.test(new URL(usual).pathname) && !/\/v\d/.test(url);
}

/** Whether the proxies of a network are on this machine. */
function isLoopbackNetwork(network: string): boolean {
  return isLoopback(network.split('/', 1)[0] ?? '');
}

function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  return bare === 'localhost' || bare === '::1' || /^127\.[\d.]{5,11}$/.test(bare);
}

function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '[::]' || host === '::';
}
