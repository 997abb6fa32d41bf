import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Systems give ports from 32768 on to whatever asks for any, so that one of those may be taken
 * before its server is there. The tests of each process begin to look at another place.
 */
const [FIRST, COUNT] = [11_000, 20_000];
let next = (process.pid * 61) % COUNT;

/** A port that nobody listens at, for a server whose address must be known before it is there. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < COUNT; tries += 1) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    const server = createServer();
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error('No port is free.');
}
