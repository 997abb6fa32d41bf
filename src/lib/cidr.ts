import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A list of networks that addresses are looked up in. */
export interface Networks {
  has(address: string): boolean;
}

/** Parses `10.0.0.0/8`, `2001:db8::/32`, or a single address. Undefined for anything else. */
export function parseNetwork(
  text: string,
): { address: string; bits: number; family: 'ipv4' | 'ipv6' } | undefined {
  const [address = '', ...digits] = text.split('/');
  if (!isAddress(address) || address.includes('%')) return undefined;
  const cidr = digits.length === 0 ? `${address}/${isIP(address) === 4 ? 32 : 128}` : text;
  if (!ipaddr.isValidCIDR(cidr)) return undefined;
  const bits = Number(cidr.slice(address.length + 1));
  return { address, bits, family: familyOf(address) };
}

/** Makes a list of networks. Invalid ones are left out: the check of the file reports them. */
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

/** The addresses that one client can use: its IPv4 address, or the /64 of its IPv6 address. */
export function clientSubnet(address: string): string {
  const [bare = ''] = address.split('%');
  if (isIP(bare) !== 6) return bare;
  const six = ipaddr.IPv6.parse(bare);
  if (six.isIPv4MappedAddress()) return six.toIPv4Address().toString();
  const four = six.parts.slice(0, 4).map((part) => part.toString(16));
  return `${four.join(':')}::/64`;
}
