import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';

/** A listener that answers `GET /metrics`, and nothing else. */
export interface MetricsServer {
  /** The address on which it listens. */
  address: { host: string; port: number };
  close(): Promise<void>;
}

const TEXT = 'text/plain; version=0.0.4; charset=utf-8';
const TIMEOUTS = { headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 65_000 };
/** Enough for a few scrapers and a browser. */
const CONNECTIONS = 32;
/** A client that reads nothing for so long is disconnected. */
const STALL_MS = 10_000;

/**
 * Starts the listener. Concurrent scrapes share one call of `read`. Rejects if the address is in
 * use.
 */
export async function serveMetrics(
  { host, port }: { host: string; port: number },
  read: () => Promise<string>,
  log: Logger,
  stall_ms = STALL_MS,
): Promise<MetricsServer> {
  let reading: Promise<string> | undefined;
  const shared = (): Promise<string> => (reading ??= read().finally(() => (reading = undefined)));
  const server = createServer(TIMEOUTS, (req, res) => void answer(req, res, shared, log));
  server.maxConnections = CONNECTIONS;
  server.timeout = stall_ms;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, resolve);
  });
  const address = { host, port: (server.address() as AddressInfo).port };
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { address, close };
}

async function answer(
  { method = '', url = '' }: IncomingMessage,
  res: ServerResponse,
  read: () => Promise<string>,
  log: Logger,
): Promise<void> {
  const [path] = url.split('?');
  if (path !== '/metrics') return void res.writeHead(404).end('The metrics are at /metrics.\n');
  if (method !== 'GET' && method !== 'HEAD') return void res.writeHead(405).end();
  try {
    const text = await read();
    res.writeHead(200, { 'content-type': TEXT }).end(method === 'HEAD' ? undefined : text);
  } catch (err) {
    log.error({ err }, 'the metrics could not be read');
    res.writeHead(500).end();
  }
}
