import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { ClientConnection } from './client-connection.js';

/** A connection for a call of the gateway's own, which has no client that could disconnect. */
export function gatewayConnection(): ClientConnection {
  const req = new IncomingMessage(new Socket());
  return new ClientConnection(req, new ServerResponse(req), { linger_ms: 0, drain_ms: 0 });
}
