import { isPrivate } from '../upstream/ssrf-guard.js';
import type { ProviderEntry } from '../schema-types/gateway.js';
import type { PartialLoad } from '../yaml/validate.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { Manifest, ReadProvider } from './adapter.js';
import { manifestName } from './address.js';
import { hasOwnAddress } from '../pipeline/model-check.js';
import type { Manifests } from './manifest.js';

/** An entry of `providers`, as far as the owner of its key is looked for. */
interface Asked extends ReadProvider {
  source: Source;
  name: string;
  all: readonly ReadProvider[];
  manifests: Manifests;
}

/** Warns of keys that most likely belong to another provider than the one that gets them. */
export async function checkOwners(
  source: Source,
  entries: Readonly<Record<string, PartialLoad<ProviderEntry> | undefined>>,
  read: ReadonlyMap<string, ReadProvider>,
  manifests: Manifests,
): Promise<void> {
  const all = [...read.values()];
  for (const [name, one] of read) {
    const asked = { ...one, source, name, all, manifests };
    const isOther = await checkVariable(asked);
    if (!isOther) await checkBeginning(asked, entries[name]?.api_key);
    await checkHost(asked);
  }
}

/** Warns of a key in the customary variable of another provider, which would learn that key. */
async function checkVariable({ source, name, manifest, all, manifests }: Asked): Promise<boolean> {
  const place = `/providers${join(name)}/api_key`;
  const variable = variableAt(source, place);
  const own = keyVariables(manifest);
  if (variable === undefined || own.length === 0 || own.includes(variable)) return false;
  const other = all.find((one) => keyVariables(one.manifest).includes(variable));
  // At an address of the operator's own, the key may well belong to whoever serves there.
  const absent =
    other || hasOwnAddress(source, name) ? undefined : await manifests.ownerOfVariable(variable);
  const owner = other?.provider.name ?? absent;
  if (owner === undefined) return false;
  const uses_at = `/providers${join(name)}/uses`;
  if (owner === name && source.has(uses_at)) {
    source.fault(uses_at, {
      code: 'key_of_another',
      message: `uses: ${source.word(uses_at)} would get the key of ${quote(name)}`,
      hint: 'remove it: the name of the entry is its manifest then',
      severity: 'warning',
    });
    return true;
  }
  const message = `api_key: ${quote(variable)} is by its name the key of ${quote(owner)}`;
  const hint = `write "\${${own[0]}}", the usual variable of ${manifestName(manifest.source)}`;
  source.faultAsWritten(place, { code: 'key_of_another', message, hint, severity: 'warning' });
  return true;
}

/** A shorter key is a stand-in, such as that of a test. */
const KEY_CHARACTERS = 20;

/** Warns of a key that begins like those of another provider. Nothing of it is shown. */
async function checkBeginning(
  { source, name, manifest, manifests }: Asked,
  key = '',
): Promise<void> {
  const place = `/providers${join(name)}/api_key`;
  const own = manifest.data.init?.key_prefixes ?? [];
  const isUsual = own.some((prefix) => prefix !== undefined && key.startsWith(prefix));
  const hasHost = manifest.data.base_url !== undefined && !hasOwnAddress(source, name);
  if (key.length < KEY_CHARACTERS || isUsual || !hasHost) return;
  const owner = await manifests.ownerOfKey(key);
  // The services of one site may share their keys.
  if (!owner || siteOf(owner.host) === siteOf(hostOf(manifest.data.base_url))) return;
  const variable = variableAt(source, place);
  const value = variable === undefined ? 'its value' : `the value of ${quote(variable)}`;
  source.faultAsWritten(place, {
    code: 'key_of_another',
    message: `api_key: ${value} begins like a key of ${quote(owner.name)}`,
    hint: `set it to a key of ${manifestName(manifest.source)}`,
    severity: 'warning',
  });
}

/** Warns of the host of another provider, which would get the key in vain. */
async function checkHost({ source, name, provider, manifest, manifests }: Asked): Promise<void> {
  const place = `/providers${join(name)}/base_url`;
  if (!source.has(place) || source.hides(place) || !URL.canParse(provider.base_url)) return;
  const url = new URL(provider.base_url);
  const { host } = url;
  const other = isPrivate(url) ? undefined : await manifests.ownerOfHost(host);
  if (!other || other.name === provider.manifest || hostOf(manifest.data.base_url) === host) return;
  const isSameWire = other.codec === wireOf(manifest);
  const variable = variableAt(source, `/providers${join(name)}/api_key`);
  const isOwnKey = variable !== undefined && keyVariables(manifest).includes(variable);
  // Many providers speak the same wire, and some file uses one manifest for all of them.
  if (isSameWire && !isOwnKey) return;
  const [why, hint] = isSameWire
    ? [
        `and would get the key of ${manifestName(manifest.source)}`,
        `leave base_url out, or write uses: ${other.name} and its own key`,
      ]
    : ['which speaks another wire', `write uses: ${other.name}, or leave base_url out`];
  source.fault(place, {
    code: 'base_url_host',
    message: `base_url: ${quote(host)} is the host of ${other.name}, ${why}`,
    hint,
    severity: 'warning',
  });
}

function hostOf(url = ''): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}

/** The last two labels of a host. */
function siteOf(host = ''): string {
  return host.split('.').slice(-2).join('.');
}

/** The codec of chat, which tells the wires of providers apart. */
function wireOf({ data }: Manifest): unknown {
  return (data.operations?.['chat'] as { codec?: unknown } | undefined)?.codec;
}

function keyVariables({ data }: Manifest): readonly string[] {
  return (data.init?.variables?.['api_key'] ?? []).filter((one) => one !== undefined);
}

/** The one variable that a value stands for; undefined for any other value. */
function variableAt(source: Source, place: string): string | undefined {
  return /^\$\{(\w+)\}$/.exec(source.written(place))?.[1];
}
