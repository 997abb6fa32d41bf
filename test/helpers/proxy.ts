import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * `away` resets each connection, `hangs` never answers, and `shut` refuses connections. After
 * `fatal CODE`, a connection is answered by an error of PostgreSQL with that code.
 */
type ProxyState = 'here' | 'away' | 'hangs' | 'shut' | `fatal ${string}`;

/** A TCP proxy in front of a server that can fail. */
export interface Proxy {
  port: number;
  set(state: ProxyState): void;
  /**
   * Holds back what the server says to the next statement with that text, calls `whenAnswered`, and
   * passes all on at once when the server has closed the connection.
   */
  holdAnswerOf(text: string, whenAnswered: () => Promise<void>): void;
  close(): Promise<void>;
}

export async function startProxy(host: string, port: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let state: ProxyState = 'here';
  let held: { text: string; whenAnswered: () => Promise<void> } | undefined;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const server: Server = createServer((client) => {
    keep(client);
    if (state === 'away') return void client.destroy();
    if (state === 'hangs') return;
    if (state.startsWith('fatal ')) {
      const answer = fatalError(state.slice('fatal '.length));
      return void client.once('data', () => client.end(answer));
    }
    const upstream = connect(port, host);
    keep(upstream);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    // What comes while it hangs is lost, and so is the connection.
    client.on('data', (bytes: Buffer) => {
      if (held && bytes.includes(held.text)) holdAnswer(client, upstream, held.whenAnswered);
      if (state === 'here') upstream.write(bytes);
    });
    upstream.on('data', (bytes) => state === 'here' && client.write(bytes));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const holdAnswer = (client: Socket, upstream: Socket, whenAnswered: () => Promise<void>) => {
    held = undefined;
    const answer: Buffer[] = [];
    upstream.removeAllListeners('data').removeAllListeners('close');
    upstream.on('data', (bytes: Buffer) => answer.push(bytes));
    upstream.once('data', () => void whenAnswered());
    upstream.once('close', () => client.end(Buffer.concat(answer)));
  };
  const { port: own_port } = server.address() as AddressInfo;
  return {
    port: own_port,
    set: (next) => {
      if (state === 'hangs' || (next !== 'here' && next !== 'hangs')) drop();
      if (next === 'shut') server.close();
      else if (state === 'shut') server.listen(own_port, '127.0.0.1');
      state = next;
    },
    holdAnswerOf: (text, whenAnswered) => {
      held = { text, whenAnswered };
    },
    close: async () => {
      drop();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

/** An ErrorResponse of PostgreSQL's protocol. */
function fatalError(code: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0Mno connection for you\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
