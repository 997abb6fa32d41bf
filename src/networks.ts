import { BlockList, isIP } from 'node:net';

/** Addresses that lie in a list of networks. */
export interface Networks {
  has(address: string): boolean;
}

/** One network: `10.0.0.0/8`, `2001:db8::/32`, or a single address. Undefined for anything else. */
export function parseNetwork(
  text: string,
): { address: string; bits: number; family: 'ipv4' | 'ipv6' } | undefined {
  const [, address = '', digits] = /^([0-9A-Fa-f:.]+)(?:\/(\d{1,3}))?$/u.exec(text) ?? [];
  const version = isIP(address);
  const longest = version === 4 ? 32 : 128;
  const bits = digits === undefined ? longest : Number(digits);
  if (version === 0 || bits > longest) return undefined;
  return { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** Throws nothing: the file's check has refused what is no network. */
export function networksOf(texts: readonly string[]): Networks {
  const list = new BlockList();
  for (const network of texts.map(parseNetwork)) {
    if (network) list.addSubnet(network.address, network.bits, network.family);
  }
  return { has: (address) => isIP(address) > 0 && list.check(address, familyOf(address)) };
}

export function isAddress(text: string): boolean {
  return isIP(text) > 0;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** The network that one client may take addresses from at will: itself, or of IPv6 its /64. */
export function neighbourhood(address: string): string {
  const [bare = ''] = address.split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/iu.exec(bare)?.[1];
  if (mapped !== undefined) return mapped;
  if (isIP(bare) !== 6) return bare;
  const [head = '', tail] = bare.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : 8 - before.length - after.length;
  const all = [...before, ...Array<string>(Math.max(gap, 0)).fill('0'), ...after];
  const four = all.slice(0, 4).map((part) => Number.parseInt(part, 16).toString(16));
  return `${four.join(':')}::/64`;
}
