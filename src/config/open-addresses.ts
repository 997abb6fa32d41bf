import { isAddress } from '../lib/cidr.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { isPrivate, isPublic } from '../upstream/ssrf-guard.js';
import type { ReadFile } from './read-file.js';
import { METRICS } from './settings.js';

/** Warns of addresses that others can reach but not safely, or that nobody reaches. */
export function checkAddresses(source: Source, file: ReadFile): void {
  checkOpen(source, file);
  checkPublicUrl(source, file);
  checkMetrics(source, file);
  checkLoops(source, file);
}

/** Warns where other machines can call the gateway, but not safely. */
function checkOpen(source: Source, { listen, public_url, trusted_proxies }: ReadFile): void {
  if (!URL.canParse(public_url)) return;
  const { protocol, hostname, port } = new URL(public_url);
  if (isLoopback(listen.host)) {
    checkPublicTls(source, public_url);
    const isOther = protocol === 'http:' && isLoopback(hostname) && Number(port) !== listen.port;
    if (isOther && port !== '' && listen.port !== 0) reportPort(source, listen, public_url);
    return;
  }
  const isKnown = hostname.includes('.') && !isAny(hostname) && !isAddress(hostname);
  const proxied = `public_url: https://${isKnown ? hostname : 'YOUR.HOST'}`;
  const way = `put a proxy with TLS in front, and write ${proxied}`;
  const addFault = (code: string, message: string, hint = way): void =>
    source.fault('/listen', { code, message, hint, severity: 'warning' });
  const given = source.word('/listen');
  const isLocal = isLoopback(hostname) || isAny(hostname);
  if (isLocal && source.has('/public_url') && !source.hides('/public_url')) {
    source.fault('/public_url', {
      code: 'public_url_local',
      message: 'only this machine can reach the public_url, but listen takes calls of others',
      hint: way,
      severity: 'warning',
    });
  } else if (isLocal) {
    addFault(
      'public_url_local',
      `listen: ${given} takes calls of other machines, which need a public_url`,
    );
  } else if (protocol === 'http:') {
    addFault(
      'no_tls',
      `listen: ${given} takes calls of other machines, and their keys travel without TLS`,
      `${way}; if it is on this machine, also listen: 127.0.0.1:${listen.port}`,
    );
  } else if (trusted_proxies.length > 0 && trusted_proxies.every(isLoopbackNetwork)) {
    addFault(
      'no_tls',
      `listen: ${given} takes calls of other machines without TLS, past the proxy on this one`,
      `write listen: 127.0.0.1:${listen.port}`,
    );
  }
}

/** Warns of a public_url that people cannot open. */
function checkPublicUrl(source: Source, file: ReadFile): void {
  const { listen, public_url, trusted_proxies, sign_in } = file;
  const place = '/public_url';
  if (!source.has(place) || source.hides(place) || !URL.canParse(public_url)) return;
  const { protocol, hostname, port } = new URL(public_url);
  const given = source.word(place);
  const isTlsHere = protocol === 'https:' && port !== '' && Number(port) === listen.port;
  const isOnlyHere = isLoopback(hostname) && isLoopback(listen.host);
  if (isTlsHere && trusted_proxies.every(isLoopbackNetwork)) {
    source.fault(place, {
      code: 'public_url_port',
      message: `public_url: the gateway listens on port ${port} itself, and speaks plain HTTP`,
      hint: `put a proxy with TLS in front, and write https://${hostname}`,
      severity: 'warning',
    });
  } else if (isOnlyHere && trusted_proxies.length > 0 && sign_in.providers.size > 0) {
    source.fault(place, {
      code: 'public_url_local',
      message: `public_url: people come through a proxy, and ${given} is their own machine`,
      hint: 'write the address that they open, such as https://ai.example.org',
      severity: 'warning',
    });
  }
}

/** Warns of a public_url of the web without TLS, where a proxy takes the calls. */
function checkPublicTls(source: Source, public_url: string): void {
  if (!source.has('/public_url') || source.hides('/public_url')) return;
  const url = new URL(public_url);
  if (url.protocol !== 'http:' || isPrivate(url) || !url.hostname.includes('.')) return;
  source.fault('/public_url', {
    code: 'no_tls',
    message: `public_url: keys and cookies travel to ${quote(url.hostname)} without TLS`,
    hint: `did you mean "${public_url.replace(/^http:/i, 'https:')}"?`,
    severity: 'warning',
  });
}

/** Warns of a public_url on this machine whose port is not the port of `listen`. */
function reportPort(source: Source, listen: ReadFile['listen'], public_url: string): void {
  if (!source.has('/public_url') || source.hides('/public_url')) return;
  const url = new URL(public_url);
  url.port = String(listen.port);
  source.fault('/public_url', {
    code: 'public_url_port',
    message: `public_url: ${source.word('/public_url')} has another port than listen`,
    hint: `write ${url.href.replace(/\/$/, '')}, unless a proxy listens there`,
    severity: 'warning',
  });
}

/** Warns where other machines can read the names of models and the amounts that they earn. */
function checkMetrics(source: Source, { listen, metrics }: ReadFile): void {
  if (!metrics) return;
  const given = source.word('/metrics');
  const isSameHost = metrics.host === listen.host || isAny(listen.host) || isAny(metrics.host);
  if (metrics.port !== 0 && metrics.port === listen.port && isSameHost) {
    const what = metrics.host === listen.host ? 'is the address' : 'has the port';
    const message = `metrics: ${given} ${what} of listen, and needs one of its own`;
    const free = METRICS.port + (metrics.port === METRICS.port ? 1 : 0);
    const hint = `write another port, such as ${METRICS.host}:${free}`;
    source.fault('/metrics', { code: 'same_address', message, hint });
  } else if (isAny(metrics.host) || isPublic(metrics.host)) {
    const message = `metrics: ${given} shows other machines the calls of each model and their cost`;
    const hint = `write 127.0.0.1:${metrics.port}, or an address of a private network`;
    source.fault('/metrics', { code: 'metrics_public', message, hint, severity: 'warning' });
  }
}

/** Warns of a provider at the address of the gateway itself, which would call itself. */
function checkLoops(source: Source, { listen, public_url, providers }: ReadFile): void {
  const own = URL.canParse(public_url) ? new URL(public_url).host : '';
  for (const [name, { provider }] of providers) {
    const place = `/providers${join(name)}/base_url`;
    if (!source.has(place) || source.hides(place) || !URL.canParse(provider.base_url)) continue;
    const { host, hostname, port } = new URL(provider.base_url);
    const isHere = isLoopback(hostname) && port === String(listen.port);
    if (!isHere && host !== own) continue;
    source.fault(place, {
      code: 'own_address',
      message: `base_url: ${source.word(place)} is the address of this gateway`,
      hint: 'write the address of the provider, or another port for listen',
      severity: 'warning',
    });
  }
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
