import { type ClientRequest, type IncomingMessage, request, type Server } from 'node:http';
import { Duplex } from 'node:stream';

/**
 * One end of a connection within this process: what one end writes, the other reads. Each waits
 * until the other has read, as the ends of a TCP connection do.
 */
export class OwnSocket extends Duplex {
  /** The account whose key a handshake had. */
  account_id: string | undefined;
  #other: OwnSocket | undefined;
  /** Called when this end has read what the other one wrote. */
  #taken: (() => void) | undefined;

  private constructor(
    private readonly is_server: boolean,
    /** The address of the client in whose name the request is sent. */
    readonly remoteAddress: string | undefined,
  ) {
    // A server answers after its client has sent all; a client is done when its server is.
    super({ allowHalfOpen: is_server });
  }

  /** The end of the client, and that of the server. */
  static pair(client_address: string | undefined): [OwnSocket, OwnSocket] {
    const client = new OwnSocket(false, undefined);
    const server = new OwnSocket(true, client_address);
    client.#other = server;
    server.#other = client;
    return [client, server];
  }

  /** The client measures how long it waits: the server needs no timer of its own. */
  setTimeout(): this {
    return this;
  }

  override _read(): void {
    const taken = this.#taken;
    this.#taken = undefined;
    taken?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    const other = this.#other;
    if (!other || other.destroyed || chunk.length === 0) return done();
    other.#taken = done;
    other.push(chunk);
  }

  override _writev(chunks: readonly { chunk: Buffer }[], done: (error?: Error) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'utf8', done);
  }

  override _final(done: () => void): void {
    this.#other?.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const other = this.#other;
    process.nextTick(() => {
      if (!other || other.destroyed) return;
      // What a server wrote before it broke off is still read, as on TCP.
      if (this.is_server && !other.readableEnded) other.push(null);
      else other.destroy();
    });
    this._read();
    done(error);
  }
}

export interface OwnRequest {
  method: string;
  path: string;
  headers: Readonly<Record<string, string | string[]>>;
  /** The address of the client in whose name the request is sent. */
  client_address: string | undefined;
  body?: string;
}

/** What came of a request: its answer, or a connection that was handed over (101). */
export type OwnReply =
  | { kind: 'answer'; answer: IncomingMessage }
  | { kind: 'switched'; account_id: string | undefined };

/** A request to the own server, and the promise of its reply, which rejects if none comes. */
export interface OwnExchange {
  sent: ClientRequest;
  reply: Promise<OwnReply>;
}

/**
 * Sends a request to a server of this process, on a connection of its own. The server treats it as
 * any other; that the request is destroyed is seen there as a client who leaves.
 */
export function requestInProcess(server: Server, asked: OwnRequest): OwnExchange {
  const { method, path, headers, client_address, body } = asked;
  const [near, far] = OwnSocket.pair(client_address);
  server.emit('connection', far);
  const sent = request({ method, path, headers, setHost: false, createConnection: () => near });
  const reply = new Promise<OwnReply>((resolve, reject) => {
    sent.on('response', (answer) => resolve({ kind: 'answer', answer }));
    sent.on('upgrade', (_answer, socket) => {
      socket.destroy();
      resolve({ kind: 'switched', account_id: far.account_id });
    });
    sent.on('error', reject);
  });
  sent.end(body);
  return { sent, reply };
}
