import type { Configuration, EndpointEntry } from '../core/configuration.js';
import type { Model } from '../core/model.js';
import type { Provider } from '../core/provider.js';
import type { Modalities } from '../pipeline/modality.js';
import type { GatewayFile } from '../schema-types/gateway.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { isPrivate, isPublic } from '../upstream/ssrf-guard.js';
import { checkTexts } from './clear-text.js';
import type { PartialLoad } from '../yaml/validate.js';

/** The parts of a file once it is read, for checks that need more than one of them. */
export interface ReadFile {
  gateway: PartialLoad<GatewayFile>;
  listen: Configuration['listen'];
  metrics: Configuration['metrics'];
  public_url: string;
  providers: ReadonlyMap<string, { provider: Provider }>;
  models: ReadonlyMap<string, Model>;
  endpoints: readonly EndpointEntry[];
  modalities: Modalities;
}

/** Warns of settings that are valid, but most likely not meant, and cost money or customers. */
export function checkLikelyMistakes(source: Source, file: ReadFile): void {
  checkTexts(source, file.gateway);
  checkOpen(source, file);
  checkMetrics(source, file);
  checkLoops(source, file);
  if (source.complete) checkReached(source, file);
  checkUpstreams(source, file);
  checkCase(source);
  checkPatterns(source);
}

/** Warns of a model ID in the form of a pattern, which stands for that one text alone. */
function checkPatterns(source: Source): void {
  for (const id of source.keys('/models') ?? []) {
    if (!id.includes('*')) continue;
    source.fault(`/models${join(id)}`, {
      code: 'pattern_model',
      message: `the model ID ${quote(id)} is no pattern: * stands for itself`,
      hint: 'write an entry for each model',
      at: 'key',
      severity: 'warning',
    });
  }
}

/** Warns of a model whose ID differs from that of an earlier one in case only. */
function checkCase(source: Source): void {
  const seen = new Map<string, string>();
  for (const id of source.keys('/models') ?? []) {
    const low = id.toLowerCase();
    const first = seen.get(low);
    seen.set(low, first ?? id);
    if (first === undefined) continue;
    source.fault(`/models${join(id)}`, {
      code: 'similar_models',
      message: `the model IDs ${quote(first)} and ${quote(id)} differ in case only`,
      hint: 'clients will mix them up: rename one, or remove one',
      at: 'key',
      severity: 'warning',
    });
  }
}

/** Warns where other machines can call the gateway, but not safely. */
function checkOpen(source: Source, { listen, public_url }: ReadFile): void {
  if (!URL.canParse(public_url)) return;
  const { protocol, hostname, port } = new URL(public_url);
  if (isLoopback(listen.host)) {
    checkPublicTls(source, public_url);
    const isOther = protocol === 'http:' && isLoopback(hostname) && Number(port) !== listen.port;
    if (isOther && port !== '' && listen.port !== 0) reportPort(source, listen, public_url);
    return;
  }
  const addFault = (code: string, message: string): void =>
    source.fault('/listen', {
      code,
      message,
      hint: 'put a proxy with TLS in front, and write public_url: https://YOUR.HOST',
      severity: 'warning',
    });
  const given = source.word('/listen');
  if (isLoopback(hostname) || isAny(hostname)) {
    addFault(
      'public_url_local',
      `listen: ${given} takes calls of other machines, which need a public_url`,
    );
  } else if (protocol === 'http:') {
    addFault(
      'no_tls',
      `listen: ${given} takes calls of other machines, and their keys travel without TLS`,
    );
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
  if (metrics.port !== 0 && metrics.port === listen.port && metrics.host === listen.host) {
    const message = `metrics: ${given} is the address of listen, and needs one of its own`;
    source.fault('/metrics', { code: 'same_address', message, hint: 'write another port' });
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

function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  return bare === 'localhost' || bare === '::1' || /^127\.[\d.]{5,11}$/.test(bare);
}

function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '[::]' || host === '::';
}

/** Reports a model that no endpoint routes to: clients see it in the list, but cannot call it. */
function checkReached(source: Source, { models, endpoints, modalities }: ReadFile): void {
  const reached = new Set<unknown>();
  for (const { stages } of endpoints) {
    for (const { name, option } of stages) {
      if (name === 'route') reached.add((option as { capability?: unknown } | null)?.capability);
    }
  }
  const all = [...modalities.keys()];
  for (const { id, capabilities } of models.values()) {
    const own = all.filter((name) => capabilities.has(name as never));
    const missing = own.filter((name) => !reached.has(name));
    if (missing.length === 0) continue;
    source.fault(`/models${join(id)}`, {
      code: 'unreached_model',
      message: `no endpoint serves the capability ${quote(missing[0] ?? '')} of ${quote(id)}`,
      hint: `an endpoint with route: { capability: ${missing[0]} } does`,
      at: 'key',
      severity: missing.length === own.length ? 'error' : 'warning',
    });
  }
}

/** An upstream that gets fewer than one call in this many is most likely a mistake. */
const RARE_CALLS = 1_000;

function checkUpstreams(source: Source, { gateway, providers }: ReadFile): void {
  for (const [id, entry] of Object.entries(gateway.models ?? {})) {
    const upstreams = entry?.upstreams ?? [];
    const pointer = `/models${join(id)}/upstreams`;
    for (const [at, one] of upstreams.entries()) {
      if (one?.weight !== undefined) checkWeight(source, pointer, upstreams, at);
      const isLast = at === upstreams.length - 1;
      const provider = providers.get(one?.provider ?? '')?.provider;
      if (isLast || !provider?.local || one?.weight !== undefined) continue;
      // It is set to fail, so that the fallback can be tried.
      if (Object.hasOwn(provider.local.settings, 'fail')) continue;
      source.fault(`${pointer}${join(at + 1)}`, {
        code: 'unreached_upstream',
        message: `this upstream is never tried: ${quote(provider.name)} before it always answers`,
        hint: 'write it first, or remove it',
        severity: 'warning',
      });
    }
  }
}

type Weighted = readonly ({ readonly weight?: number | undefined } | undefined)[];

/** Warns of a weight without a neighbour that has one, and of one that wins almost no call. */
function checkWeight(source: Source, list: string, upstreams: Weighted, at: number): void {
  // A weight that is no number has a fault of its own, and counts as one here.
  const weights = upstreams.map((one, i) => {
    const entry = `${list}${join(i)}`;
    const isWritten = source.has(`${entry}/weight`) || source.hasMisspelled(entry, 'weight');
    return one?.weight ?? (isWritten ? 1 : undefined);
  });
  const pointer = `${list}${join(at)}/weight`;
  const own = weights[at];
  if (own === undefined) return;
  const before = weights.slice(0, at).findLastIndex((weight) => weight === undefined);
  const after = weights.findIndex((weight, index) => index > at && weight === undefined);
  const group = weights.slice(before + 1, after === -1 ? undefined : after);
  const sum = group.reduce<number>((total, weight) => total + (weight ?? 0), 0);
  if (group.length > 1 && sum / own < RARE_CALLS) return;
  if (group.length === 1) return reportLone(source, list, weights, at);
  const wins = `wins one call in ${Math.round(sum / own)}`;
  const message = `weight: ${source.word(pointer)} of ${sum} ${wins}`;
  const hint = 'write a larger one, or remove the entry';
  source.fault(pointer, { code: 'rare_upstream', message, hint, severity: 'warning' });
}

/** Reports a weight without a neighbour that has one. Of two about one entry the first is told. */
function reportLone(
  source: Source,
  list: string,
  weights: readonly (number | undefined)[],
  at: number,
): void {
  const isLone = (index: number): boolean =>
    weights[index] !== undefined && weights[index - 1] === undefined;
  if (isLone(at - 2)) return;
  const between = [at + 1, at - 1].find((one) => weights[2 * one - at] !== undefined);
  const message = 'weight: this weight has no effect: no upstream next to it has one';
  const provider = source.word(`${list}${join(between ?? at)}/provider`);
  const hint =
    between === undefined
      ? 'give the neighbour a weight too, or remove this one'
      : `give the upstream of ${provider} between two a weight too`;
  const pointer = `${list}${join(at)}/weight`;
  source.fault(pointer, { code: 'lone_weight', message, hint, severity: 'warning' });
}
