import type { IdentityProviderEntry } from '../schema-types/gateway.js';
import { isMisspelt } from '../yaml/misspelt.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { IdentityProvider } from '../core/configuration.js';
import { readUrl } from '../yaml/urls.js';
import type { PartialLoad } from '../yaml/validate.js';

type Entry = PartialLoad<IdentityProviderEntry>;
type Key = keyof IdentityProviderEntry;

/** Names that the sign-in uses as paths. */
const RESERVED_NAMES = ['link'];

/** The keys that belong to one kind of provider only. */
const OWN: Record<IdentityProvider['kind'], readonly Key[]> = {
  openid: ['issuer', 'trust_email'],
  github: ['base_url', 'api_url'],
};

/** Reads an entry of `sign_in.providers`; undefined if a key that it needs is missing. */
export function readIdentityProvider(
  source: Source,
  name: string,
  entry: Entry,
): IdentityProvider | undefined {
  const place = `/sign_in/providers${join(name)}`;
  if (RESERVED_NAMES.includes(name)) {
    const message = `a provider cannot be called ${quote(name)}: the sign-in has such a page`;
    source.fault(place, { code: 'bad_name', message, hint: 'choose another', at: 'key' });
  }
  const kind = entry.kind ?? 'openid';
  refuseForeign(source, place, kind);
  const { client_id = '', client_secret } = entry;
  const client = { name, title: entry.name ?? titleOf(kind, name), client_id, client_secret };
  const scopes = (entry.scopes ?? []).filter((scope) => scope !== undefined);
  return kind === 'github'
    ? readGithub(source, place, entry, { ...client, scopes })
    : readOpenId(source, place, entry, { ...client, scopes });
}

type Client = Omit<IdentityProvider, 'kind'>;

function readOpenId(
  source: Source,
  place: string,
  { issuer, trust_email = false }: Entry,
  client: Client,
): IdentityProvider | undefined {
  require(source, place, 'issuer');
  if (issuer === undefined || !readSafeUrl(source, `${place}/issuer`, issuer)) return undefined;
  checkIssuer(source, `${place}/issuer`, issuer);
  // Without the scope `openid` the provider sends no ID token.
  const scopes = client.scopes.length > 0 ? client.scopes : ['email'];
  const requested = [...new Set(['openid', ...scopes])];
  return { ...client, kind: 'openid', issuer, trust_email, scopes: requested };
}

function readGithub(
  source: Source,
  place: string,
  { base_url, api_url }: Entry,
  client: Client,
): IdentityProvider | undefined {
  require(source, place, 'client_secret');
  const url = (key: 'base_url' | 'api_url', text: string | undefined, fallback: string) =>
    text === undefined ? fallback : readSafeUrl(source, `${place}/${key}`, text);
  const base = url('base_url', base_url, 'https://github.com');
  const own_api = base_url === undefined ? 'https://api.github.com' : `${base ?? ''}/api/v3`;
  const api = url('api_url', api_url, own_api);
  if (base === undefined || api === undefined) return undefined;
  const scopes = client.scopes.length > 0 ? client.scopes : ['read:user', 'user:email'];
  return { ...client, kind: 'github', base_url: base, api_url: api, scopes };
}

/** Secrets are sent to this address, so it must be https or on this machine. */
function readSafeUrl(source: Source, place: string, text: string): string | undefined {
  const url = readUrl(source, place, text);
  if (url === undefined) return undefined;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/u.test(hostname)) return url;
  const message = `${source.word(place)} would carry secrets in the clear`;
  const near = `did you mean "${url.replace(/^http:/i, 'https:')}"?`;
  const hint = source.hides(place) ? 'use https' : near;
  source.fault(place, { code: 'insecure_url', message, hint });
  return undefined;
}

/** Keys of other programs for `kind`. Each has a fault of its own. */
const KINDS = ['kind', 'type', 'provider'];

function require(source: Source, place: string, key: Key): void {
  if (source.has(`${place}/${key}`) || isMisspelt(source, place, key)) return;
  // Without a kind that can be read, nobody knows which keys it needs.
  if (key === 'issuer' && KINDS.some((one) => isOtherKind(source, `${place}/${one}`))) return;
  const message = `${quote(place.split('/').at(-1) ?? '')} is missing the key ${quote(key)}`;
  const isGithub = key === 'issuer' && place.endsWith('/github');
  const hint = isGithub ? 'add kind: github' : `add ${EXAMPLES[key] ?? key}`;
  source.fault(place, { code: 'missing_key', message, hint, at: 'key' });
}

function isOtherKind(source: Source, place: string): boolean {
  return source.has(place) && source.text(place) !== 'openid';
}

const EXAMPLES: Partial<Record<Key, string>> = {
  issuer: 'it, such as issuer: https://accounts.google.com',
  client_secret: 'client_secret: "${GITHUB_CLIENT_SECRET}"',
};

/** Paths of an issuer's endpoints, which are not part of its address. */
const ISSUER_PATH =
  /\/(?:\.well-known\/[\w-]+|(?:oauth2?\/|protocol\/[\w-]+\/)?(?:authorize|auth|token|certs))$/;

function checkIssuer(source: Source, place: string, issuer: string): void {
  if (/^https:\/\/github\.com\/?$/i.test(issuer) && !source.hides(place)) {
    const message = `issuer: ${source.word(place)} is no issuer of OpenID Connect`;
    const hint = 'write kind: github in place of issuer';
    source.fault(place, { code: 'wrong_value', message, hint });
  }
  const [, shared] =
    /^https:\/\/login\.microsoftonline\.com\/(common|organizations|consumers)\//i.exec(issuer) ??
    [];
  if (shared !== undefined && !source.hides(place)) {
    const message = `issuer: "${shared}" is no directory, and no token names it as its issuer`;
    const hint = `write the ID of your directory in place of ${shared}`;
    source.fault(place, { code: 'wrong_value', message, hint });
  }
  const [path] = ISSUER_PATH.exec(issuer) ?? [];
  if (path === undefined || source.hides(place)) return;
  const message = `issuer: ${quote(path)} is an endpoint of the issuer, not a part of its address`;
  const hint = `did you mean "${issuer.slice(0, -path.length)}"?`;
  source.fault(place, { code: 'issuer_path', message, hint });
}

function refuseForeign(source: Source, place: string, kind: IdentityProvider['kind']): void {
  for (const [other, keys] of Object.entries(OWN)) {
    for (const key of other === kind ? [] : keys) {
      if (!source.has(`${place}/${key}`)) continue;
      const message = `${quote(key)} is for a provider of kind ${other}`;
      const hint = `remove it, or write kind: ${other}`;
      source.fault(`${place}/${key}`, { code: 'unknown_key', message, hint, at: 'key' });
    }
  }
}

function titleOf(kind: IdentityProvider['kind'], name: string): string {
  if (kind === 'github') return 'GitHub';
  return name.charAt(0).toUpperCase() + name.slice(1);
}
