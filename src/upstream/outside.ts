import { lookup as resolve, type LookupAddress, type LookupOptions } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { UpstreamError } from './fault.js';

type Callback = (error: Error | null, address: LookupAddress[] | string, family?: number) => void;

/** Loopback, private, link-local, shared, documentation, benchmark, multicast and reserved. */
const NOT_PUBLIC_4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];
/** Parts of the global unicast space that lead elsewhere: other protocols, tunnels, examples. */
const NOT_PUBLIC_6: readonly [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const refused = new BlockList();
for (const [net, bits] of NOT_PUBLIC_4) refused.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of NOT_PUBLIC_6) refused.addSubnet(net, bits, 'ipv6');
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');

/** Whether an IP address is one of the public Internet. */
export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !refused.check(address, 'ipv4');
    case 6:
      return global6.check(address, 'ipv6') && !refused.check(address, 'ipv6');
    default:
      return false;
  }
}

/** Names that mean nothing to the public, whatever they lead to. */
const NOT_PUBLIC_NAME = /(^|\.)(localhost|local|internal|home\.arpa)\.?$/u;

/** Throws `UpstreamError` for a URL whose host is not public, as far as its words tell. */
export function refusePrivate(url: string): void {
  const host = new URL(url).hostname.replace(/^\[|\]$/gu, '');
  const isAddress = isIP(host) !== 0;
  if (isAddress ? !isPublic(host) : NOT_PUBLIC_NAME.test(host)) throw notPublic();
}

/**
 * Looks a name up for a socket, and fails if any of its addresses is not public. The socket takes
 * what is answered here, so that a name cannot mean another address a moment later.
 */
export function lookupPublic(host: string, options: LookupOptions, done: Callback): void {
  resolve(host, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error, []);
    const [first] = addresses;
    if (!first || !addresses.every(({ address }) => isPublic(address))) {
      return done(notPublic(), []);
    }
    if (options.all) done(null, addresses);
    else done(null, first.address, first.family);
  });
}

function notPublic(): UpstreamError {
  return new UpstreamError('broken', 'The upstream pointed to an address that is not public.');
}
