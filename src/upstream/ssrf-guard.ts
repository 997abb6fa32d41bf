import { lookup as resolve, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { UpstreamError } from '../core/upstream-error.js';

type Callback = (error: Error | null, address: LookupAddress[] | string, family?: number) => void;

/** Answers only to the machines of one cloud (Azure's wire server), though its range is public. */
const CLOUD_INSIDE = '168.63.129.16';
/** What the Internet routes of IPv6, and how a network without IPv4 writes an IPv4 address. */
const GLOBAL_6 = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Whether an IP address is one of the public Internet. An IPv6 address that holds one of IPv4
 * (mapped, 6to4, Teredo) is not; that of a NAT64 is where the address within is.
 */
export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return isPublic4(ipaddr.IPv4.parse(address));
    case 6: {
      const six = ipaddr.IPv6.parse(address);
      if (six.match(NAT64)) return isPublic4(new ipaddr.IPv4(six.toByteArray().slice(-4)));
      return six.match(GLOBAL_6) && six.range() === 'unicast';
    }
    default:
      return false;
  }
}

function isPublic4(four: ipaddr.IPv4): boolean {
  return four.range() === 'unicast' && four.toString() !== CLOUD_INSIDE;
}

/** Names that mean nothing to the public, whatever they lead to. */
const NOT_PUBLIC_NAME = /(^|\.)(localhost|local|internal|home\.arpa)\.?$/u;

/** Throws `UpstreamError` for a URL whose host is not public, as far as its words tell. */
export function assertPublic(url: string): void {
  if (isPrivate(new URL(url))) throw notPublic();
}

/** Whether the host of a URL is not public, as far as its words tell. */
export function isPrivate({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/gu, '');
  return isIP(host) === 0 ? NOT_PUBLIC_NAME.test(host) : !isPublic(host);
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
