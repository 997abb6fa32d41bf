import { basename } from 'node:path';
import type { ProviderEntry } from '../schema-types/gateway.js';
import { pointer as join, quote, segments, type Source } from '../yaml/source.js';
import { readUrl } from '../yaml/urls.js';
import type { PartialLoad } from '../yaml/validate.js';
import type { Manifest } from './adapter.js';
import { checkBaseUrl } from './base-url.js';
import { wrongDate } from './foreign-models.js';

type Entry = PartialLoad<ProviderEntry>;

/** Keys of a provider entry whose values replace places such as `{region}` in its manifest. */
const PARTS = ['region', 'resource', 'project', 'api_version'] as const;
type Part = (typeof PARTS)[number];

const EXAMPLES: Record<Part, string> = {
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
  const missing = new Set<Part>();
  const fill = (text: string): string =>
    text.replaceAll(PLACE, (place, name: Part, standard: string | undefined) => {
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
  reportRegion(source, `${pointer}/region`, manifest);
  reportVersion(source, `${pointer}/api_version`);
  for (const name of PARTS) {
    reportUnused(source, pointer, name, manifest);
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
  missing: ReadonlySet<Part>,
): string {
  const place = `${pointer}/base_url`;
  if (entry.base_url !== undefined) {
    const url = readUrl(source, place, entry.base_url, data.base_url);
    if (url !== undefined) checkBaseUrl(source, place, url, data);
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
  if (!faulty && !own.has('/in_process') && !source.hasMisspelled(pointer, 'base_url')) {
    const message = `${nameOf(pointer)} is missing the key "base_url"`;
    const such = 'such as base_url: https://llm.example.com/v1';
    const hint = `the manifest ${manifestName(own)} has none: add it, ${such}`;
    source.fault(pointer, { code: 'missing_key', message, hint, at: 'key' });
  }
  return '';
}

function reportMissing(
  source: Source,
  pointer: string,
  name: Part,
  { source: own }: Manifest,
): void {
  if (source.has(`${pointer}${join(name)}`) || source.hasMisspelled(pointer, name)) return;
  const message = `${nameOf(pointer)} is missing the key ${quote(name)}`;
  const where = `the manifest ${manifestName(own)} has a place for it in its address`;
  const hint = `${where}: add it, such as ${name}: ${EXAMPLES[name]}`;
  source.fault(pointer, { code: 'missing_key', message, hint, at: 'key' });
}

function reportUnused(source: Source, pointer: string, name: Part, manifest: Manifest): void {
  const place = `${pointer}${join(name)}`;
  if (!source.has(place) || isUsed(name, manifest)) return;
  const own = manifestName(manifest.source);
  const message = `${name} is not used: the manifest ${own} has no place for it`;
  const hint = 'remove it, or put it into base_url';
  source.fault(place, { code: 'unused_key', message, hint, at: 'key', severity: 'warning' });
}

/** Reports a value that ends with the text behind its place, which the address would have twice. */
function reportWhole(source: Source, pointer: string, name: Part, { data }: Manifest): void {
  const place = `${pointer}${join(name)}`;
  const text = source.hides(place) ? '' : (source.text(place) ?? '');
  const [, behind] = new RegExp(`\\{${name}\\}(\\.[\\w.-]+)`).exec(data.base_url ?? '') ?? [];
  if (behind === undefined || !text.endsWith(behind)) return;
  const message = `${name}: the address already ends with ${quote(behind)}`;
  const hint = `write ${text.slice(0, -behind.length)}`;
  source.fault(place, { code: 'wrong_value', message, hint });
}

/** Warns of a region that no request can be signed for: those end with a dash and a number. */
function reportRegion(source: Source, place: string, { source: own }: Manifest): void {
  if (!own.has('/auth/signer') || source.hides(place)) return;
  const text = (source.text(place) ?? '').toLowerCase().replaceAll('_', '-');
  const [, name, number] = /^([a-z]+(?:-[a-z]+)+)-?(\d)[a-z]?$/.exec(text) ?? [];
  const meant = `${name}-${number}`;
  if (name === undefined || meant === source.text(place)) return;
  source.fault(place, {
    code: 'unknown_region',
    message: `region: no region is called ${source.word(place)}`,
    hint: `did you mean "${meant}"?`,
    severity: 'warning',
  });
}

/** Warns of a version that is a date of no calendar. */
function reportVersion(source: Source, place: string): void {
  const wrong = source.hides(place) ? undefined : wrongDate(source.text(place) ?? '');
  if (!wrong) return;
  const message = `api_version: ${source.word(place)} is a date that no calendar has`;
  const { hint = '' } = wrong;
  source.fault(place, { code: 'wrong_value', message, hint, severity: 'warning' });
}

/** Whether the address or a wire flag has a place for a part. A signature always has the region. */
function isUsed(name: Part, { data, source: own }: Manifest): boolean {
  if (name === 'region' && own.has('/auth/signer')) return true;
  const texts = [data.base_url, ...Object.values(data.wire ?? {})];
  return texts.some(
    (text) => typeof text === 'string' && [...text.matchAll(PLACE)].some(([, one]) => one === name),
  );
}

/** The name of a manifest as `uses` has it. */
export function manifestName({ file }: Source): string {
  return quote(basename(file, '.yaml'));
}

/** The name of a provider entry, for messages. */
export function nameOf(pointer: string): string {
  return quote(segments(pointer).at(-1) ?? '');
}
