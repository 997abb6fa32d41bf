import type { IncomingMessage } from 'node:http';
import { isAddress, clientSubnet, networksOf } from '../lib/cidr.js';

/** More hops than any real chain of proxies has. */
const MAX_HOPS = 32;

/**
 * Returns a reader of the address by which rate limits count a client: for IPv6 the /64. Behind
 * trusted proxies it is the last address in X-Forwarded-For that is not one of the proxies.
 */
export function addressReader(
  trusted_proxies: readonly string[],
): (req: IncomingMessage) => string {
  const trusted = networksOf(trusted_proxies);
  return ({ socket, headers }) => {
    const direct = plain(socket.remoteAddress ?? '');
    if (trusted_proxies.length === 0 || !trusted.has(direct)) return clientSubnet(direct);
    const hops = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').slice(-MAX_HOPS);
    let client = direct;
    for (const hop of hops.map(plain).reverse()) {
      // No trusted proxy writes a hop that is not an address.
      if (!isAddress(hop)) break;
      client = hop;
      if (!trusted.has(hop)) break;
    }
    return clientSubnet(client);
  };
}

/** Removes the port that some proxies add, and unwraps an IPv4 address in IPv6. */
function plain(text: string): string {
  const bare = text.trim();
  const inner = /^\[([^\]]+)\](?::\d+)?$/u.exec(bare)?.[1] ?? bare;
  const four = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/iu.exec(inner)?.[1];
  return four ?? inner;
}
