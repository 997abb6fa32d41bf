import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** Whether a client asks to go on as a WebSocket (RFC 6455). */
export function isHandshake({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.trim().toLowerCase() === 'websocket';
}

/** Headers of one connection, which say nothing of a request (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'upgrade', 'transfer-encoding', 'te']);

/** Headers without those of the connection that they came on. */
export function endToEnd<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}

/**
 * Gives a connection back to the server that handed it over because of an `Upgrade`: the request
 * goes on as HTTP. Without the word in `Connection`, the server does not hand it over again.
 */
export function serveAsHttp(
  server: Server,
  { method, url, rawHeaders, httpVersion }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    text += `${name}: ${name.toLowerCase() === 'connection' ? withoutUpgrade(value) : value}\r\n`;
  }
  socket.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

function withoutUpgrade(value: string): string {
  const words = value.split(',').map((word) => word.trim());
  return words.filter((word) => word.toLowerCase() !== 'upgrade').join(', ');
}

/** Writes the refusal of a handshake on its connection, and closes that. */
export async function refuseHandshake(socket: Duplex, refusal: IncomingMessage): Promise<void> {
  const { statusCode = 500, rawHeaders } = refusal;
  let text = `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    text += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`;
  }
  const body: Buffer[] = [];
  for await (const chunk of refusal) body.push(chunk as Buffer);
  socket.end(Buffer.concat([Buffer.from(`${text}\r\n`, 'latin1'), ...body]), () =>
    socket.destroy(),
  );
}
