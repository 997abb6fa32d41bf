import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A socket of a client's own, and what came back on it. */
export interface RawClient {
  socket: Socket;
  readonly text: string;
  /** Resolves when that much has come back. */
  until(isThere: (text: string) => boolean): Promise<void>;
  /** Resolves with all that came back, when the other side has closed. */
  closed(): Promise<string>;
}

/** Opens a socket to a gateway and writes text as it is. */
export function rawClient(url: string, text: string): RawClient {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let got = '';
  socket.setEncoding('latin1').on('data', (data: string) => (got += data));
  // A reset is one way for the other side to close.
  socket.on('error', () => undefined);
  socket.write(text);
  return {
    socket,
    get text() {
      return got;
    },
    until: async (isThere) => {
      while (!isThere(got)) await once(socket, 'data');
    },
    closed: async () => {
      if (!socket.closed) await once(socket, 'close');
      return got;
    },
  };
}

export interface RawRequest {
  path?: string;
  secret: string;
  headers?: string;
  /** In place of the body's own. */
  length?: number;
}

/** A POST of JSON as it goes over the wire. */
export function rawPost(body: string, { path, secret, headers, length }: RawRequest): string {
  return (
    `POST ${path ?? '/v1/chat/completions'} HTTP/1.1\r\nhost: x\r\n` +
    `authorization: Bearer ${secret}\r\ncontent-type: application/json\r\n${headers ?? ''}` +
    `content-length: ${length ?? Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}
