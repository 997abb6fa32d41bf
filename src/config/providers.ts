import type { ProviderEntry } from '../schema-types/gateway.js';
import type { Provider, Timeouts } from '../core/provider.js';
import { checkNames } from './adapter.js';
import { manifestName, readAddress } from './address.js';
import { readHeaders } from './headers.js';
import { checkOwners } from './key-owners.js';
import type { Manifest, ReadProvider } from './adapter.js';
import { hasOwnAddress } from '../pipeline/model-check.js';
import type { Manifests } from './manifest.js';
import { readServiceAccount } from './service-account.js';
import { readSigner } from './signer.js';
import { pointer as join, type Source } from '../yaml/source.js';
import { readDuration } from '../yaml/units.js';
import type { PartialLoad } from '../yaml/validate.js';

type Entry = PartialLoad<ProviderEntry>;

/**
 * SDKs wait ten minutes for a whole answer, and a model may reason for minutes between two packets.
 */
const DEFAULT_MS = { connect: 5000, first_byte: 600_000, idle: 300_000, total: 600_000 };
const DEFAULT_POLL_MS = 2000;

/**
 * The entries of `providers` whose manifests could be read. The others have faults of their own,
 * and nothing more is known about them.
 */
export async function readProviders(
  source: Source,
  entries: Readonly<Record<string, Entry | undefined>>,
  manifests: Manifests,
): Promise<Map<string, ReadProvider>> {
  const read = new Map<string, ReadProvider>();
  const found = Object.entries(entries).map(async ([name, entry]) => {
    return { name, entry, manifest: entry && (await findManifest(source, name, entry, manifests)) };
  });
  for (const { name, entry, manifest } of await Promise.all(found)) {
    if (!entry || !manifest?.source.readable) continue;
    read.set(name, { provider: readProvider(source, name, entry, manifest), manifest });
  }
  await checkOwners(source, entries, read, manifests);
  return read;
}

async function findManifest(
  source: Source,
  name: string,
  { uses }: Entry,
  manifests: Manifests,
): Promise<Manifest | undefined> {
  const pointer = `/providers${join(name)}`;
  if (source.hasMisspelled(pointer, 'uses') || isReported(source, name)) return undefined;
  if (!source.has(`${pointer}/uses`)) return manifests.find(name, pointer, 'key');
  if (uses === undefined) return undefined;
  return manifests.find(uses, `${pointer}/uses`, 'value');
}

/** Keys of other programs that mean `uses`. Each has a fault of its own. */
const KINDS = ['type', 'kind', 'manifest', 'adapter', 'driver', 'provider', 'format', 'api_type'];
/** Blocks that may stand here by mistake, which the schema's errors report. */
const BLOCKS = ['owners', 'models', 'endpoints'];

function isReported(source: Source, name: string): boolean {
  const pointer = `/providers${join(name)}`;
  const keys = source.keys(pointer) ?? [];
  const isElsewhere = BLOCKS.includes(name) && !keys.includes('uses');
  return isElsewhere || (!keys.includes('uses') && keys.some((key) => KINDS.includes(key)));
}

function readProvider(source: Source, name: string, entry: Entry, manifest: Manifest): Provider {
  const { data, answer } = manifest;
  const pointer = `/providers${join(name)}`;
  if (data.in_process === undefined && source.has(`${pointer}/settings`)) {
    const own = manifestName(manifest.source);
    const message = `settings are not used: the manifest ${own} does not answer in process`;
    const hint = 'fields of requests are set by an upstream of a model: set: { NAME: VALUE }';
    const place = `${pointer}/settings`;
    source.fault(place, { code: 'unused_settings', message, hint, at: 'key', severity: 'warning' });
  } else {
    checkNames(source, `${pointer}/settings`, 'setting', manifest.settings);
  }
  const service_account = readServiceAccount(source, pointer, entry);
  const signer = readSigner(source, pointer, entry, manifest);
  const { base_url, wire } = readAddress(source, pointer, entry, manifest);
  checkAbort(source, name, entry, manifest);
  return {
    name,
    manifest: entry.uses ?? name,
    base_url,
    headers: readHeaders(source, pointer, entry, manifest),
    ...(service_account && { service_account }),
    ...(signer && { signer }),
    operations: manifest.operations,
    ...(manifest.read_error && { read_error: manifest.read_error }),
    ...readPromptTokens(data),
    timeouts: readTimeouts(source, pointer, entry, manifest),
    poll_interval_ms: readPollInterval(source, pointer, entry, manifest),
    on_abort: entry.on_abort ?? data.on_abort ?? 'drain',
    local: answer && { answer, settings: { ...data.settings, ...entry.settings } },
    wire,
  };
}

/** Warns of calls that clients leave, which the provider bills on and the gateway would not. */
function checkAbort(source: Source, name: string, { on_abort }: Entry, manifest: Manifest): void {
  if (on_abort !== 'abort' || manifest.data.on_abort !== 'drain') return;
  if (hasOwnAddress(source, name)) return;
  const own = manifestName(manifest.source);
  source.fault(`/providers${join(name)}/on_abort`, {
    code: 'billed_abort',
    message: `on_abort: ${own} bills on after an abort, and clients would not pay for that`,
    hint: 'remove it, unless your contract says otherwise',
    severity: 'warning',
  });
}

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

function readTimeouts(source: Source, pointer: string, entry: Entry, manifest: Manifest): Timeouts {
  const read = (phase: keyof typeof DEFAULT_MS) => {
    const standard = readDuration(
      manifest.source,
      `/timeout/${phase}`,
      manifest.data.timeout?.[phase],
      { default: DEFAULT_MS[phase], min: 1 },
    );
    const place = `${pointer}/timeout/${phase}`;
    return readDuration(source, place, entry.timeout?.[phase], { default: standard, min: 1 });
  };
  const timeouts = {
    connect_ms: read('connect'),
    first_byte_ms: read('first_byte'),
    idle_ms: read('idle'),
    total_ms: read('total'),
  };
  checkOrder(source, `${pointer}/timeout`, timeouts);
  checkShort(source, `${pointer}/timeout`, timeouts);
  return timeouts;
}

/** No model answers sooner; a shorter time is most likely one of seconds in milliseconds. */
const SHORTEST_MS = { first_byte_ms: 1_000, idle_ms: 500, total_ms: 1_000 };

/** A longer time for a connection is most likely one of seconds in minutes. */
const LONGEST_CONNECT_MS = 120_000;

/** Warns of a timeout that ends every call, and of one that lets a dead host hold each call. */
function checkShort(source: Source, pointer: string, timeouts: Timeouts): void {
  const connect = `${pointer}/connect`;
  if (source.has(connect) && timeouts.connect_ms > LONGEST_CONNECT_MS) {
    const time = source.word(connect);
    const message = `timeout.connect: a host that is away holds each call for ${time}`;
    const hint = 'write 5s, so that the next upstream is tried soon';
    const wrong = { code: 'long_timeout', message, hint, severity: 'warning' } as const;
    source.fault(connect, wrong);
  }
  for (const phase of ['first_byte', 'idle', 'total'] as const) {
    const place = `${pointer}/${phase}`;
    if (!source.has(place) || source.invalid_pointers.has(place)) continue;
    if (timeouts[`${phase}_ms`] >= SHORTEST_MS[`${phase}_ms`]) continue;
    const [, number] = /^(\d+)ms$/.exec(source.text(place) ?? '') ?? [];
    const meant = number === undefined || source.hides(place) ? '60s' : `${number}s`;
    source.fault(place, {
      code: 'short_timeout',
      message: `timeout.${phase}: ${source.word(place)} is over before a model answers`,
      hint: `did you mean "${meant}"?`,
      severity: 'warning',
    });
  }
}

/** Warns of a phase whose timeout is longer than `total`, so that it is never reached. */
function checkOrder(source: Source, pointer: string, timeouts: Timeouts): void {
  if (!source.has(`${pointer}/total`)) return;
  for (const phase of ['connect', 'first_byte', 'idle'] as const) {
    const place = `${pointer}/${phase}`;
    const isRead = source.has(place) && !source.invalid_pointers.has(place);
    if (!isRead || timeouts[`${phase}_ms`] <= timeouts.total_ms) continue;
    const total = source.word(`${pointer}/total`);
    const message = `timeout.${phase}: ${source.word(place)} is never reached: total is ${total}`;
    const longer = `write a longer one than ${source.written(place)}`;
    const hint = `total is the time of the whole call: ${longer}`;
    source.fault(`${pointer}/total`, {
      code: 'unreached_timeout',
      message,
      hint,
      severity: 'warning',
    });
    return;
  }
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
