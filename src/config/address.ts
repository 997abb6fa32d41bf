import { basename } from 'node:path';
import type { ProviderEntry } from '../schema-types/gateway.js';
import { isMisspelt } from '../yaml/misspelt.js';
import { pointer as join, quote, segments, type Source } from '../yaml/source.js';
import { readUrl } from '../yaml/urls.js';
import type { PartialLoad } from '../yaml/validate.js';
import type { Manifest } from './adapter.js';

type Entry = PartialLoad<ProviderEntry>;

/** Keys of a provider entry whose values replace places such as `{region}` in its manifest. */
const PARTS = ['region', 'resource', 'project', 'api_version'] as const;
type AddressPart = (typeof PARTS)[number];

const EXAMPLES: Record<AddressPart, string> = {
  region: 'us-east-1',
  resource: 'my-resource',
  project: 'my-project',
  api_version: '2024-10-21',
};

/** `{region}`, or `{region=us-east-1}` with a default for entries without that key. */
const PLACE = new RegExp(`\\{(${PARTS.join('|')})(?:=([A-Za-z0-9._-]+))?\\}`, 'gu');

/**
 * The base URL of a provider, the entry's own or the manifest's, and the manifest's wire flags,
 * with the parts of the entry in place. A part or a URL whose variables are unknown stands there as
 * written, `${NAME}` included.
 */
export function readAddress(
  source: Source,
  pointer: string,
  entry: Entry,
  manifest: Manifest,
): { base_url: string; wire: Record<string, unknown> } {
  const missing = new Set<AddressPart>();
  const fill = (text: string): string =>
    text.replaceAll(PLACE, (place, name: AddressPart, standard: string | undefined) => {
      const value = entry[name] ?? unknownText(source, `${pointer}/${name}`) ?? standard;
      if (value === undefined) missing.add(name);
      return value ?? place;
    });
  const wire = Object.fromEntries(
    Object.entries(manifest.data.wire ?? {}).map(([name, value]) => [
      name,
      typeof value === 'string' ? fill(value) : value,
    ]),
  );
  const base_url = readBaseUrl(source, pointer, entry, manifest, fill, missing);
  for (const name of missing) reportMissing(source, pointer, name, manifest);
  for (const name of PARTS) {
    // One that is no part of an address has a fault already.
    if (entry[name] !== undefined) reportWhole(source, pointer, name, manifest);
  }
  return { base_url, wire };
}

/** The text as written of a value whose variables are unknown; undefined for any other value. */
function unknownText(source: Source, pointer: string): string | undefined {
  return source.invalid_pointers.has(pointer) ? source.written(pointer) : undefined;
}

function readBaseUrl(
  source: Source,
  pointer: string,
  entry: Entry,
  { data, source: own }: Manifest,
  fill: (text: string) => string,
  missing: ReadonlySet<AddressPart>,
): string {
  const place = `${pointer}/base_url`;
  if (entry.base_url !== undefined) {
    const url = readUrl(source, place, entry.base_url, data.base_url);
    if (url !== undefined) checkStandIn(source, place, url);
    return url ?? '';
  }
  const unknown = unknownText(source, place);
  if (unknown !== undefined) return unknown;
  if (data.base_url !== undefined) {
    const filled = fill(data.base_url);
    if (missing.size > 0) return '';
    const hasUnknown = PARTS.some((part) => source.invalid_pointers.has(`${pointer}/${part}`));
    return hasUnknown ? filled : (readUrl(own, '/base_url', filled) ?? '');
  }
  const faulty = source.has(place) || own.has('/base_url');
  if (!faulty && !own.has('/in_process') && !isMisspelt(source, pointer, 'base_url')) {
    const message = `${nameOf(pointer)} is missing the key "base_url"`;
    const such = 'such as base_url: https://llm.example.com/v1';
    const hint = `the manifest ${manifestName(own)} has none: add it, ${such}`;
    source.fault(pointer, { code: 'missing_key', message, hint, at: 'key' });
  }
  return '';
}

/** Reports an address with a stand-in for the host, as examples have it. */
function checkStandIn(source: Source, place: string, url: string): void {
  const { hostname } = new URL(url);
  const isReal = !/^your[-_.]|[-_.]your[-_.]|your[-_]?(?:host|resource|domain)/i.test(hostname);
  if (isReal || source.hides(place)) return;
  source.fault(place, {
    code: 'placeholder',
    message: `base_url: the host ${quote(hostname)} is a stand-in for the real one`,
    hint: 'write the address of the provider',
  });
}

function reportMissing(
  source: Source,
  pointer: string,
  name: AddressPart,
  { source: own }: Manifest,
): void {
  if (source.has(`${pointer}${join(name)}`) || isMisspelt(source, pointer, name)) return;
  const message = `${nameOf(pointer)} is missing the key ${quote(name)}`;
  const where = `the manifest ${manifestName(own)} has a place for it in its address`;
  const hint = `${where}: add it, such as ${name}: ${EXAMPLES[name]}`;
  source.fault(pointer, { code: 'missing_key', message, hint, at: 'key' });
}

/** Reports a value that ends with the text behind its place, which the address would have twice. */
function reportWhole(source: Source, pointer: string, name: AddressPart, { data }: Manifest): void {
  const place = `${pointer}${join(name)}`;
  const text = source.hides(place) ? '' : (source.text(place) ?? '');
  const [, behind] = new RegExp(`\\{${name}\\}(\\.[\\w.-]+)`).exec(data.base_url ?? '') ?? [];
  if (behind === undefined || !text.endsWith(behind)) return;
  const message = `${name}: the address already ends with ${quote(behind)}`;
  const hint = `write ${text.slice(0, -behind.length)}`;
  source.fault(place, { code: 'wrong_value', message, hint });
}

/** The name of a manifest as `uses` has it. */
function manifestName({ file }: Source): string {
  return quote(basename(file, '.yaml'));
}

/** The name of a provider entry, for messages. */
export function nameOf(pointer: string): string {
  return quote(segments(pointer).at(-1) ?? '');
}
