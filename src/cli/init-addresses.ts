import type { InitProvider } from '../config/init-providers.js';
import type { LocalAddress } from '../gateway/local-servers.js';
import { UsageError } from './command.js';

const MAX_ADDRESSES = 32;

/**
 * The addresses to probe: the customary ones, or those of `--local`, each as URL or NAME=URL. A
 * name that a manifest lists takes that manifest. Throws `UsageError` for anything else.
 */
export function localAddresses(
  init_providers: readonly InitProvider[],
  typed: readonly string[] | boolean | undefined,
): LocalAddress[] {
  if (typed === false) return [];
  const customary = init_providers.flatMap(({ manifest, local }) =>
    local.map(([name, base_url]) => ({ name, uses: manifest, base_url })),
  );
  if (typed === undefined || typed === true) return customary;
  if (typed.length > MAX_ADDRESSES) throw new UsageError(`--local: at most ${MAX_ADDRESSES}`);
  // The manifest for servers that have none of their own is the one without an address.
  const general = init_providers.find(({ base_url, local }) => !base_url && local.length > 0);
  const addresses: LocalAddress[] = [];
  for (const text of typed) {
    const [, name = 'local', url = ''] = /^(?:([a-z0-9][a-z0-9-]{0,40})=)?(.*)$/su.exec(text) ?? [];
    const base_url = addressOf(url);
    const known = customary.find((address) => address.name === name);
    const uses = known?.uses ?? general?.manifest ?? name;
    addresses.push({ name: unusedName(name, addresses), uses, base_url });
  }
  return addresses;
}

function unusedName(name: string, addresses: readonly LocalAddress[]): string {
  const taken = addresses.map((address) => address.name);
  if (!taken.includes(name)) return name;
  let count = 2;
  while (taken.includes(`${name}-${count}`)) count += 1;
  return `${name}-${count}`;
}

/** A base URL. One without a path gets `/v1`, which nearly all servers have. */
function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isBare = url?.username === '' && url.password === '' && url.search + url.hash === '';
  if (!url || !isBare || !/^https?:$/.test(url.protocol) || /[\s$]/.test(text)) {
    throw new UsageError('--local takes [NAME=]URL, such as ollama=http://127.0.0.1:11434/v1');
  }
  const path = url.pathname.replace(/\/+$/, '');
  return url.origin + (path === '' ? '/v1' : path);
}
