import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** The most bytes that Node.js reads at once. */
const PACKET_BYTES = 64 * 1024;

/** The most hosts whose TLS sessions are kept. */
const MAX_SESSIONS = 100;

/**
 * Connects as undici does, but packets of all its sockets arrive in one memory, from which each is
 * copied. Otherwise Node.js takes 64 KiB for each packet and gives most of it back. A TLS session
 * is resumed at the next connection to its host.
 */
export function connectorOf(options: buildConnector.BuildOptions): buildConnector.connector {
  const arriving = Buffer.allocUnsafeSlow(PACKET_BYTES);
  const sessions = new Map<string, Buffer>();
  return (target, callback) => {
    const { socket, onread } = packetsIn(arriving);
    const host = target.servername ?? target.hostname;
    const session = sessions.get(host);
    // One for each socket: the function that gets its packets must know it.
    const connect = buildConnector({ ...options, onread, session, maxCachedSessions: 0 });
    connect(target, (...[error, opened]) => {
      if (error) return callback(error, null);
      socket.is = opened;
      opened.on('session', (fresh: Buffer) => keep(sessions, host, fresh));
      callback(null, opened);
    });
  };
}

/** Reads packets into `memory`, and gives a copy of each to the socket. */
function packetsIn(memory: Buffer) {
  const socket: { is?: Socket } = {};
  const callback = (bytes: number): boolean => {
    const packet = Buffer.allocUnsafe(bytes);
    memory.copy(packet, 0, 0, bytes);
    return socket.is?.push(packet) ?? true;
  };
  return { socket, onread: { buffer: memory, callback } };
}

/** The session that was kept first makes room. */
function keep(sessions: Map<string, Buffer>, host: string, session: Buffer): void {
  sessions.delete(host);
  const [first] = sessions.keys();
  if (first !== undefined && sessions.size >= MAX_SESSIONS) sessions.delete(first);
  sessions.set(host, session);
}
