import { readPostgresHosts } from '../store/postgres/postgres-place.js';
import { STAND_IN, isSecret, mayBeSecret, variableOf } from '../config/clear-text.js';
import type { ReadProvider } from '../config/adapter.js';
import { memoizeByObject } from '../lib/objects.js';
import { hasOwnAddress } from '../pipeline/model-check.js';
import { isPrivate } from '../upstream/ssrf-guard.js';
import { distance } from '../yaml/did-you-mean.js';
import { isExtension, pointer as join, quote, segments } from '../yaml/source.js';
import type { Mark, Source } from '../yaml/source.js';
import type { Advice, Warning } from './advice.js';

/** The secrets of the file with their places, but those that only anchors use. */
const secretsIn = memoizeByObject((source: Source) => {
  const found: { pointer: string; mark: Mark; key: string }[] = [];
  source.eachMark((pointer, mark) => {
    if (mark.text === undefined || !isSecret(pointer) || isExtension(pointer)) return;
    found.push({ pointer, mark, key: segments(pointer).at(-1) ?? '' });
  });
  return found;
});

/** The default of a variable, which is clear text too: `${NAME:-default}`. */
const DEFAULT = /\$\{(\w+):-([^}]*)\}/;

export const secretInClear: Advice = {
  code: 'secret_in_clear',
  saves: 'a secret that everybody who can read the file could use',
  *check({ source }) {
    for (const { pointer, mark, key } of secretsIn(source)) {
      const { text = '', written = '', expanded } = mark;
      const [, name = variableOf(pointer), standby = ''] = DEFAULT.exec(written) ?? [];
      if (!mayBeSecret(expanded ? standby : text)) continue;
      const way = expanded ? ', without the default' : ' and set that environment variable';
      yield {
        pointer,
        message: `${key} stands in clear text in this file, for everybody who can read it`,
        hint: `write "\${${name}}"${way}, or ${'${file:PATH}'}`,
        as_written: true,
      };
    }
    for (const pointer of ['/store', '/store/url', '/store/session_url']) {
      const [url] = readPostgresHosts(source.text(pointer) ?? '')?.urls ?? [];
      if (!url || source.hides(pointer) || new URL(url).password === '') continue;
      const at = new URL(url).password.includes('%40') ? ', with @ as %40 there' : '';
      yield {
        pointer,
        message: 'the password of the store stands in clear text in this file',
        hint: `write postgres://USER:\${DB_PASSWORD}@HOST/DATABASE, and set that variable${at}`,
      };
    }
  },
};

/** The name of a variable before its value, as a line of .env has it. */
const NAMED = /^(?:export )?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=/;

export const placeholder: Advice = {
  code: 'placeholder',
  saves: 'the first hour: every call with a key of an example fails',
  *check({ source }) {
    for (const { pointer, mark, key } of secretsIn(source)) {
      const { text = '', written = '', expanded } = mark;
      if (!expanded || source.unread.has(pointer)) continue;
      const [, named] = NAMED.exec(text) ?? [];
      const [, name = 'it'] = /^\$\{(\w+)/.exec(written) ?? [];
      if (named !== undefined) {
        const message = `${key}: what ${quote(written)} stands for begins with "${named}="`;
        yield { pointer, message, hint: 'leave only the secret itself there', as_written: true };
      } else if (STAND_IN.test(text)) {
        const message = `${key}: ${quote(written)} holds a placeholder, not the real value`;
        const hint = `set ${name} to the real one, in the environment or in the file .env`;
        yield { pointer, message, hint, as_written: true };
      }
    }
  },
};

/** A shorter key is a stand-in, such as that of a test. */
const KEY_CHARACTERS = 20;

export const keyOfAnother: Advice = {
  code: 'key_of_another',
  saves: 'the key of one provider, which another one would learn',
  async *check({ source, gateway, providers, manifests }) {
    const all = [...providers.values()];
    for (const [name, { manifest, provider }] of providers) {
      const pointer = `/providers${join(name)}/api_key`;
      const variable = variableAt(source, pointer);
      const own = keyVariables({ manifest });
      const uses = quote(provider.manifest);
      if (variable !== undefined && own.length > 0 && !own.includes(variable)) {
        const other = all.find((one) => keyVariables(one).includes(variable))?.provider.name;
        // At an address of the operator's own, the key may well belong to whoever serves there.
        const isTheirs = other === undefined && !hasOwnAddress(source, name);
        const owner = isTheirs ? await manifests.ownerOfVariable(variable) : other;
        if (owner !== undefined) {
          const message = `api_key: ${quote(variable)} is by its name the key of ${quote(owner)}`;
          const hint = `write "\${${own[0]}}", the usual variable of ${uses}`;
          yield { pointer, message, hint, as_written: true };
          continue;
        }
      }
      const key = gateway.providers?.[name]?.api_key ?? '';
      const isUsual = (manifest.data.init?.key_prefixes ?? []).some((one = '?') =>
        key.startsWith(one),
      );
      const usual = manifest.data.base_url;
      if (key.length < KEY_CHARACTERS || isUsual || !usual || hasOwnAddress(source, name)) continue;
      const owner = await manifests.ownerOfKey(key);
      // The services of one site may share their keys.
      if (!owner || siteOf(owner.host) === siteOf(hostOf(usual))) continue;
      const value = variable === undefined ? 'its value' : `the value of ${quote(variable)}`;
      yield {
        pointer,
        message: `api_key: ${value} begins like a key of ${quote(owner.name)}`,
        hint: `set it to a key of ${uses}`,
        as_written: true,
      };
    }
  },
};

export const hostOfAnother: Advice = {
  code: 'base_url_host',
  saves: 'a key that would go to the host of somebody else',
  async *check({ source, providers, manifests }) {
    for (const { pointer, url, name, read } of addressesOf({ source, providers })) {
      const { host, hostname } = new URL(url);
      const { manifest, provider } = read;
      const usual = manifest.data.base_url ?? '';
      if (isNearly(hostname, hostOf(usual))) {
        const message = `base_url: the host ${quote(hostname)} is nearly that of the manifest`;
        const right = url.replace(hostname, hostOf(usual) ?? '');
        yield { pointer, message, hint: `did you mean "${right}"?` };
        continue;
      }
      if (isPage(hostname, hostOf(usual))) {
        const message = `base_url: ${quote(hostname)} has web pages for people, and no API`;
        yield { pointer, message, hint: `write ${usual}, or leave base_url out` };
        continue;
      }
      const other = isPrivate(new URL(url)) ? undefined : await manifests.ownerOfHost(host);
      if (!other || other.name === provider.manifest || hostOf(usual) === host) continue;
      const variable = variableAt(source, `/providers${join(name)}/api_key`);
      const isOwnKey = variable !== undefined && keyVariables(read).includes(variable);
      // Many providers speak the same wire, and some file uses one manifest for all of them.
      const isSameWire = other.codec === chatCodecOf(read);
      if (isSameWire && !isOwnKey) continue;
      yield {
        pointer,
        message: `base_url: ${quote(host)} is the host of ${other.name}, ${
          isSameWire
            ? `and would get the key of ${quote(provider.manifest)}`
            : 'which speaks another wire'
        }`,
        hint: `write uses: ${other.name} and its own key, or leave base_url out`,
      };
    }
  },
};

/** The addresses that the file itself gives to its providers, and may show. */
export function addressesOf({
  source,
  providers,
}: {
  source: Source;
  providers: ReadonlyMap<string, ReadProvider>;
}): { pointer: string; url: string; name: string; read: ReadProvider }[] {
  return [...providers].flatMap(([name, read]) => {
    const pointer = `/providers${join(name)}/base_url`;
    const url = read.provider.base_url;
    const isOpen = source.has(pointer) && !source.hides(pointer) && URL.canParse(url);
    return isOpen ? [{ pointer, url, name, read }] : [];
  });
}

/** Shorter hosts may be alike by chance. */
const LONG_HOST = 12;

/** Whether a host is a misspelt one. Those of regions and machines differ by their numbers. */
export function isNearly(hostname: string, usual = ''): boolean {
  const [given = '', right = ''] = [hostname, usual].map((host) => host.replaceAll(/\d+/g, '0'));
  const isLike = given.split('.').at(-1) === right.split('.').at(-1) && right.length >= LONG_HOST;
  return isLike && given !== right && distance(given, right) <= 2;
}

/** Whether a host has the pages of a provider: its API may have a longer name, as ACMEAPIS. */
export function isPage(hostname: string, usual = ''): boolean {
  const [site = '', api = ''] = [hostname, usual].map((host) => host.split('.').at(-2));
  const isPages = /^(?:platform|console|www|chat|dashboard|app|docs|(?:ai)?studio)\./;
  return hostname !== usual && isPages.test(hostname) && api.startsWith(site);
}

export const badCredentials: Advice = {
  code: 'bad_credentials',
  saves: 'a secret that would travel, or be shown, in the place of its ID',
  *check({ source, gateway, configuration, providers }) {
    for (const name of configuration.sign_in.providers.keys()) {
      const pointer = `/sign_in/providers${join(name)}/client_id`;
      const written = source.written(pointer);
      const isSecretOfClient = source.text(pointer)?.startsWith('GOCSPX-') === true;
      if (!/^\$\{\w*SECRET\w*\}$/i.test(written) && !isSecretOfClient) continue;
      const message =
        'client_id has the secret by its name or form, and every browser gets to see it';
      yield { pointer, message, hint: 'write the ID of the client', as_written: true };
    }
    for (const [name, entry] of Object.entries(gateway.providers ?? {})) {
      const pointer = `/providers${join(name)}/access_key_id`;
      const id = entry?.access_key_id ?? '';
      const written = source.written(pointer);
      const isNamed = /^\$\{\w*SECRET\w*\}$/.test(written) && !/^[A-Z0-9]{20}$/.test(id);
      const isOfSecret = id.length === 40 && /[a-z]/.test(id);
      if (!providers.get(name)?.provider.signer || !(isNamed || isOfSecret)) continue;
      yield {
        pointer,
        message: 'access_key_id has the secret by its name or form, and not its ID',
        hint: 'set it to the ID, 20 capital letters and digits such as AKIA...',
        as_written: true,
      };
    }
  },
};

export const insecureUrl: Advice = {
  code: 'insecure_url',
  saves: 'keys and prompts that anybody on the way could read',
  *check({ source, providers }): Iterable<Warning> {
    for (const { pointer, url } of addressesOf({ source, providers })) {
      const { protocol, hostname } = new URL(url);
      // A name without a dot is one of a private network, such as that of containers.
      const isOwn = !hostname.includes('.') || isPrivate(new URL(url));
      if (protocol !== 'http:' || isOwn) continue;
      const message = 'base_url: keys and prompts travel to this public host without TLS';
      yield { pointer, message, hint: `did you mean "${url.replace(/^http:/i, 'https:')}"?` };
    }
  },
};

function hostOf(url = ''): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}

/** The last two labels of a host. */
function siteOf(host = ''): string {
  return host.split('.').slice(-2).join('.');
}

/** The codec of chat, which tells the wires of providers apart. */
function chatCodecOf({ manifest }: ReadProvider): unknown {
  return (manifest.data.operations?.chat as { codec?: unknown } | undefined)?.codec;
}

function keyVariables({ manifest }: Pick<ReadProvider, 'manifest'>): readonly string[] {
  const usual = manifest.data.init?.variables?.api_key ?? [];
  return usual.filter((one) => one !== undefined);
}

/** The one variable that a value stands for; undefined for any other value. */
function variableAt(source: Source, pointer: string): string | undefined {
  return /^\$\{(\w+)\}$/.exec(source.written(pointer))?.[1];
}
