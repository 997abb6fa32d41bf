import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A TCP proxy in front of a server, which can be away (refuse and reset) or hang. */
export interface Proxy {
  port: number;
  set(state: 'here' | 'away' | 'hangs'): void;
  close(): Promise<void>;
}

export async function startProxy(host: string, port: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let state: 'here' | 'away' | 'hangs' = 'here';
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const server: Server = createServer((client) => {
    keep(client);
    if (state === 'away') return void client.destroy();
    if (state === 'hangs') return;
    const upstream = connect(port, host);
    keep(upstream);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    // What comes while it hangs is lost, and so is the connection.
    client.on('data', (bytes) => state === 'here' && upstream.write(bytes));
    upstream.on('data', (bytes) => state === 'here' && client.write(bytes));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    set: (next) => {
      if (state === 'hangs' || next === 'away') drop();
      state = next;
    },
    close: async () => {
      drop();
      server.close();
      await once(server, 'close');
    },
  };
}
