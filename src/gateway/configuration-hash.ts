import { createHash } from 'node:crypto';
import type { Configuration } from '../core/configuration.js';
import type { Upstream } from '../core/model.js';
import { priceEntries } from './price-notes.js';

/** So much of a hash is kept: enough to tell configurations apart, too little to test guesses. */
const DIGITS = 12;

/**
 * Hashes of a configuration and of its prices, by which boxes know whether theirs are equal. What
 * may differ from box to box is left out: the places of its files, its addresses, and the bytes
 * that follow its memory. Secrets are in the hash of the whole alone.
 */
export function configurationHashes(configuration: Configuration): {
  configuration: string;
  prices: string;
} {
  const prices = hashOf(priceEntries(configuration));
  return { configuration: hashOf(sharedPart(configuration)), prices };
}

function sharedPart(configuration: Configuration): object {
  const { public_url, is_public_url_default, models, aliases, endpoints } = configuration;
  const { limits, ...rest } = configuration;
  return {
    ...rest,
    ...Object.fromEntries(OWN.map((name) => [name, undefined])),
    public_url: is_public_url_default ? undefined : public_url,
    limits: { ...limits, in_flight_bytes: undefined },
    models: [...models.values()].map(({ upstreams, ...model }) => {
      return { ...model, upstreams: upstreams.map(upstreamPart) };
    }),
    aliases: [...aliases].map(([name, { id, is_as_name }]) => [name, id, is_as_name]),
    endpoints: endpoints.map(({ name, method, path, stages }) => {
      return { name, method, path, stages: stages.map((stage) => [stage.name, stage.option]) };
    }),
  };
}

/** What each box has of its own. */
const OWN: readonly (keyof Configuration)[] = [
  'file',
  'directory',
  'listen',
  'is_public_url_default',
  'store',
  'journal',
  'metrics',
];

/** The providers have a list of their own; an upstream may have other terms than its provider. */
function upstreamPart({ provider, ...upstream }: Upstream): object {
  const { name, timeouts, retries } = provider;
  return { ...upstream, provider: { name, timeouts, retries } };
}

function hashOf(value: object): string {
  const text = JSON.stringify(value, (name, one: unknown) => plain(name, one));
  return createHash('sha256').update(text).digest('hex').slice(0, DIGITS);
}

/** A value as JSON can write it. Of a manifest's codec its digest tells. */
function plain(name: string, value: unknown): unknown {
  if (name === 'codec') return undefined;
  if (value instanceof Map || value instanceof Set) return [...(value as Iterable<unknown>)];
  return typeof value === 'bigint' || value === Infinity ? String(value) : value;
}
