import type { IncomingMessage } from 'node:http';
import { isAddress, clientSubnet, networksOf } from '../lib/cidr.js';

/** Longer lists of proxies are somebody's play. */
const MOST_HOPS = 32;

/**
 * Tells by what a client is counted: its address, or of IPv6 the /64 it lies in. Behind trusted
 * proxies that is the last address in X-Forwarded-For that is not one of theirs.
 */
export function addressReader(
  trusted_proxies: readonly string[],
): (req: IncomingMessage) => string {
  const trusted = networksOf(trusted_proxies);
  return ({ socket, headers }) => {
    const direct = plain(socket.remoteAddress ?? '');
    if (trusted_proxies.length === 0 || !trusted.has(direct)) return clientSubnet(direct);
    const hops = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').slice(-MOST_HOPS);
    let client = direct;
    for (const hop of hops.map(plain).reverse()) {
      // What is no address was not written by a proxy of ours.
      if (!isAddress(hop)) break;
      client = hop;
      if (!trusted.has(hop)) break;
    }
    return clientSubnet(client);
  };
}

/** Without the port that some proxies add, and an IPv4 address as itself. */
function plain(text: string): string {
  const bare = text.trim();
  const inner = /^\[([^\]]+)\](?::\d+)?$/u.exec(bare)?.[1] ?? bare;
  const four = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/iu.exec(inner)?.[1];
  return four ?? inner;
}
