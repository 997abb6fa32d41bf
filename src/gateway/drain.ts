import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../core/errors.js';
import type { InFlightRequest, InFlightSet } from '../lib/in-flight.js';

const SWEEP_MS = 25;
/** After the limit, streams are told that they were cut; this long they may take to settle. */
const LAST_WORDS_MS = 5_000;

/**
 * The open connections of a server. Node counts one as idle only after its first request, but
 * browsers and pools of clients open some ahead.
 */
export class Connections {
  readonly #open = new Set<Socket>();

  constructor(server: Server) {
    const open = this.#open;
    const forget = function (this: Socket): void {
      open.delete(this);
    };
    server.on('connection', (socket: Socket) => {
      open.add(socket);
      socket.on('close', forget);
    });
  }

  /** Closes those on which nothing has come. */
  closeUnused(): void {
    for (const socket of this.#open) if (socket.bytesRead === 0) socket.destroy();
  }
}

/**
 * Closes a server: no new connections, idle ones closed, running answers waited for up to
 * `limit_ms`, then ended with an error that their clients see, and charged for what was delivered.
 */
export async function drain(
  server: Server,
  connections: Connections,
  inflight: InFlightSet<InFlightRequest>,
  limit_ms: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection kept alive counts as open until its client lets go, so idle ones are swept.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    // What has come meanwhile is read before this.
    setImmediate(() => connections.closeUnused());
  }, SWEEP_MS);
  const stop = setTimeout(() => {
    const reason = new GatewayError('draining', 'The gateway stopped before the answer was whole.');
    for (const request of inflight) request.stop(reason);
  }, limit_ms);
  const kill = setTimeout(() => server.closeAllConnections(), limit_ms + LAST_WORDS_MS);
  let late = false;
  const giveUp = setTimeout(() => (late = true), limit_ms + 2 * LAST_WORDS_MS);
  await closed;
  // A client that has left holds no connection, yet its answer may be heard out and be charged.
  while (inflight.size > 0 && !late) await sleep(SWEEP_MS);
  clearInterval(sweep);
  for (const timer of [stop, kill, giveUp]) clearTimeout(timer);
}
