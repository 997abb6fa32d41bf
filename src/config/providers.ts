import { createHash } from 'node:crypto';
import type { ProviderEntry } from '../schema-types/gateway.js';
import { memoizeByObject } from '../lib/objects.js';
import type { Provider } from '../core/provider.js';
import {
  checkRetry,
  DEFAULT_RETRIES,
  DEFAULT_TIMEOUTS,
  readCallTerms,
  readTimeouts,
  type CallTerms,
} from './call-terms.js';
import { checkNames } from './adapter.js';
import { readAddress } from './address.js';
import { readHeaders } from './headers.js';
import type { Manifest, ReadProvider } from './adapter.js';
import type { Modalities } from '../pipeline/modality.js';
import { readDiscount, readPriceTerms } from './price-terms.js';
import type { Manifests } from './manifest.js';
import { readServiceAccount } from './service-account.js';
import { readSigner } from './signer.js';
import { BLOCKS } from '../yaml/misplaced.js';
import { isMisspelt } from '../yaml/misspelt.js';
import { pointer as join, type Source } from '../yaml/source.js';
import { readDuration } from '../yaml/units.js';
import type { PartialLoad } from '../yaml/validate.js';

type Entry = PartialLoad<ProviderEntry>;

const DEFAULT_POLL_MS = 2000;

/**
 * The entries of `providers` whose manifests could be read. The others have faults of their own,
 * and nothing more is known about them.
 */
export async function readProviders(
  source: Source,
  entries: Readonly<Record<string, Entry | undefined>>,
  manifests: Manifests,
  defaults: CallTerms,
  modalities: Modalities,
): Promise<Map<string, ReadProvider>> {
  const read = new Map<string, ReadProvider>();
  const found = Object.entries(entries).map(async ([name, entry]) => {
    return { name, entry, manifest: entry && (await findManifest(source, name, entry, manifests)) };
  });
  for (const { name, entry, manifest } of await Promise.all(found)) {
    if (!entry || !manifest?.source.readable) continue;
    const provider = readProvider(source, name, entry, manifest, defaults);
    const pointer = `/providers${join(name)}`;
    const { price } = entry;
    const terms = price && readPriceTerms(source, `${pointer}/price`, price, modalities);
    const discount = readDiscount(source, pointer);
    read.set(name, { provider, manifest, ...(terms && { price: terms }), discount });
  }
  return read;
}

async function findManifest(
  source: Source,
  name: string,
  { uses }: Entry,
  manifests: Manifests,
): Promise<Manifest | undefined> {
  const pointer = `/providers${join(name)}`;
  if (isMisspelt(source, pointer, 'uses') || isMisplaced(source, name)) return undefined;
  if (!source.has(`${pointer}/uses`)) return manifests.find(name, pointer, 'key');
  if (uses === undefined) return undefined;
  return manifests.find(uses, `${pointer}/uses`, 'value');
}

/** Whether an entry is a block that stands here by mistake, which the schema's errors report. */
function isMisplaced(source: Source, name: string): boolean {
  const isBlock = BLOCKS.includes(name) && name !== 'providers';
  return isBlock && source.keys(`/providers${join(name)}`)?.includes('uses') !== true;
}

function readProvider(
  source: Source,
  name: string,
  entry: Entry,
  manifest: Manifest,
  defaults: CallTerms,
): Provider {
  const { data, answer } = manifest;
  const pointer = `/providers${join(name)}`;
  if (data.in_process !== undefined)
    checkNames(source, `${pointer}/settings`, 'setting', manifest.settings);
  const service_account = readServiceAccount(source, pointer, entry);
  const signer = readSigner(source, pointer, entry, manifest);
  const { base_url, wire } = readAddress(source, pointer, entry, manifest);
  const terms = readCallTerms(source, pointer, entry);
  const bills_errors = entry.bills_errors ?? data.bills_errors ?? false;
  if (bills_errors) checkRetry(source, { name, bills_errors }, terms);
  return {
    name,
    manifest: entry.uses ?? name,
    manifest_digest: digestOf(manifest),
    base_url,
    headers: readHeaders(source, pointer, entry, manifest),
    ...(service_account && { service_account }),
    ...(signer && { signer }),
    operations: manifest.operations,
    ...(manifest.read_error && { read_error: manifest.read_error }),
    ...readPromptTokens(data),
    timeouts: {
      ...DEFAULT_TIMEOUTS,
      ...readTimeouts(manifest.source, '/timeout', data.timeout),
      ...defaults.timeouts,
      ...terms.timeouts,
    },
    retries: bills_errors ? 0 : (terms.retries ?? defaults.retries ?? DEFAULT_RETRIES),
    ...(bills_errors && { bills_errors }),
    poll_interval_ms: readPollInterval(source, pointer, entry, manifest),
    on_abort: entry.on_abort ?? data.on_abort ?? 'drain',
    local: answer && { answer, settings: { ...data.settings, ...entry.settings } },
    wire,
  };
}

const digestOf = memoizeByObject(({ data }: Manifest) =>
  createHash('sha256').update(JSON.stringify(data)).digest('base64'),
);

function readPromptTokens({
  hidden_tokens,
  image_tokens,
}: Manifest['data']): Pick<Provider, 'hidden_tokens' | 'image_tokens'> {
  const { base = 0, tools = 0 } = hidden_tokens ?? {};
  return {
    ...(hidden_tokens && { hidden_tokens: { base, tools } }),
    ...(image_tokens !== undefined && { image_tokens }),
  };
}

function readPollInterval(
  source: Source,
  pointer: string,
  entry: Entry,
  { source: own, data }: Manifest,
): number {
  const bounds = { default: DEFAULT_POLL_MS, min: 10 };
  const standard = readDuration(own, '/poll_interval', data.poll_interval, bounds);
  const place = `${pointer}/poll_interval`;
  return readDuration(source, place, entry.poll_interval, { default: standard, min: 10 });
}
