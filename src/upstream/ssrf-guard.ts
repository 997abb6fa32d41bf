import { lookup as resolve, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { UpstreamError } from '../core/upstream-error.js';

type Callback = (error: Error | null, address: LookupAddress[] | string, family?: number) => void;

/** Azure's wire server. Only machines in Azure reach it, although its range is public. */
const CLOUD_INSIDE = '168.63.129.16';
/** The IPv6 range of the Internet, and the range that translates to IPv4 (NAT64). */
const GLOBAL_6 = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Whether an IP address belongs to the public Internet. An IPv6 address that holds an IPv4 address
 * (mapped, 6to4, Teredo) does not. A NAT64 address does if the IPv4 address in it does.
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

/** Names that are private, whatever address they resolve to. */
const NOT_PUBLIC_NAME = /(^|\.)(localhost|local|internal|home\.arpa)\.?$/u;

/** Throws `UpstreamError` for a URL whose host `isPrivate`. */
export function assertPublic(url: string): void {
  if (isPrivate(new URL(url))) throw new NotPublic();
}

/** Whether the host of a URL is a private name or address. No name is resolved. */
export function isPrivate({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/gu, '');
  return isIP(host) === 0 ? NOT_PUBLIC_NAME.test(host) : !isPublic(host);
}

/**
 * Resolves a name for a socket, and fails if any of its addresses is not public. The socket
 * connects to these addresses, so the name cannot resolve to another one a moment later.
 */
export function lookupPublic(host: string, options: LookupOptions, callback: Callback): void {
  resolve(host, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, []);
    const [first] = addresses;
    if (!first || !addresses.every(({ address }) => isPublic(address))) {
      return callback(new NotPublic(), []);
    }
    if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
}

/** An address that an upstream or a client named is not public. */
export class NotPublic extends UpstreamError {
  constructor() {
    super('broken', 'The upstream pointed to an address that is not public.');
  }
}
