import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { ClientConnection } from './client-connection.js';

/** The connection of a call that the gateway makes for itself: no client waits, so none leaves. */
export function ownConnection(): ClientConnection {
  const req = new IncomingMessage(new Socket());
  return new ClientConnection(req, new ServerResponse(req), { linger_ms: 0, drain_ms: 0 });
}
