import type { Server } from 'node:http';
import { Server as TcpServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../core/errors.js';
import type { InFlightRequest, InFlightSet } from '../lib/in-flight-set.js';

const SWEEP_MS = 25;
/** How long the streams that were cut off at the limit may take to be charged, and to end. */
const LAST_MS = 5_000;

/**
 * The open connections of a server. Browsers and connection pools open some before they need them,
 * and Node counts a connection as idle only after its first request.
 */
export class Connections {
  readonly #open = new Set<Socket>();

  constructor(server: Server) {
    const open = this.#open;
    const forget = function (this: Socket): void {
      open.delete(this);
    };
    server.on('connection', (socket: Socket) => {
      // One that asked for an upgrade in vain comes again.
      if (open.has(socket)) return;
      open.add(socket);
      socket.on('close', forget);
    });
  }

  /** Closes the connections on which no byte has arrived. */
  closeUnused(): void {
    for (const socket of this.#open) if (socket.bytesRead === 0) socket.destroy();
  }

  /** Closes all, WebSockets too, which the server itself has handed over. */
  closeAll(): void {
    for (const socket of this.#open) socket.destroy();
  }
}

interface DrainLimits {
  /** How long the requests in flight may take. */
  limit_ms: number;
  /** How long idle connections stay open: a proxy may just be sending a request on one. */
  idle_after_ms: number;
}

/**
 * Closes a server. It takes no new connections, closes idle ones, and waits up to `limit_ms` for
 * the requests in flight. Then it ends those with an error that their clients see; each is charged
 * for the part that was delivered.
 */
export async function drain(
  server: Server,
  connections: Connections,
  inflight: InFlightSet<InFlightRequest>,
  { limit_ms, idle_after_ms }: DrainLimits,
): Promise<void> {
  const closed = stopListening(server);
  const idle_at = performance.now() + idle_after_ms;
  // The server waits for keep-alive connections, so idle ones are closed again and again.
  const sweep = setInterval(() => {
    if (performance.now() < idle_at) return;
    server.closeIdleConnections();
    // Runs after the reads of this turn, so a request that has just arrived is seen.
    setImmediate(() => connections.closeUnused());
  }, SWEEP_MS);
  const stop = setTimeout(() => {
    const reason = new GatewayError('draining', 'The gateway stopped before the answer was whole.');
    for (const request of inflight) request.stop(reason);
  }, limit_ms);
  const kill = setTimeout(() => connections.closeAll(), limit_ms + LAST_MS);
  let late = false;
  const giveUp = setTimeout(() => (late = true), limit_ms + 2 * LAST_MS);
  await closed;
  server.close();
  // The answer for a disconnected client may still be drained and charged.
  while (inflight.size > 0 && !late) await sleep(SWEEP_MS);
  clearInterval(sweep);
  for (const timer of [stop, kill, giveUp]) clearTimeout(timer);
}

/**
 * Takes no new connections. Resolves when all are closed. `close` of an HTTP server closes its idle
 * connections at once, so this is that of its TCP server. It runs after the reads of this turn:
 * connections that have come are accepted by then, and not reset.
 */
function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => TcpServer.prototype.close.call(server, () => resolve()));
  });
}
