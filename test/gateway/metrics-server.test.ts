import { expect } from 'chai';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { serveMetrics } from '../../src/gateway/metrics-server.js';
import { until } from '../helpers/until.js';

const READERS = 100;

describe('the listener of metrics', () => {
  it('serves a scraper again after clients that read nothing took all connections', async () => {
    const text = '# A line of metrics.\n'.repeat(1_000_000);
    const log = pino({ level: 'silent' });
    const here = { host: '127.0.0.1', port: 0 };
    const server = await serveMetrics(here, () => Promise.resolve(text), log, 200);
    const { port } = server.address;
    const stalled: Socket[] = [];
    for (let at = 0; at < READERS; at += 1) {
      const socket = connect(port, '127.0.0.1').pause();
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n');
      stalled.push(socket);
    }
    const scraped = async (): Promise<boolean> => {
      // On a busy machine the server may also cut off this client, which then tries again.
      const read = async (): Promise<string> =>
        (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return (await read().catch(() => '')).length === text.length;
    };
    await until(scraped, 'a scraper is served', 15_000);
    expect(stalled).to.have.length(READERS);
    for (const socket of stalled) socket.destroy();
    await server.close();
  });
});
