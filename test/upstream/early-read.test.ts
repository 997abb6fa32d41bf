import { expect } from 'chai';
import { executionAsyncResource } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { connectEagerly, untilPacketOver } from '../../src/upstream/early-read.js';

const LARGE = Buffer.alloc(4 * 1024 ** 2, 'abcdefghijklmnopqrstuvwxyz');

describe('connectEagerly', () => {
  let server: Server;
  let port: number;
  const opened: Socket[] = [];

  beforeEach(async () => {
    server = createServer((socket) => opened.push(socket.on('error', () => undefined)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });

  afterEach(async () => {
    for (const socket of opened.splice(0)) socket.destroy();
    server.close();
    await once(server, 'close');
  });

  /** Both ends of a connection. */
  async function pair(): Promise<{ here: Socket; there: Socket }> {
    const connected = once(server, 'connection') as Promise<[Socket]>;
    const here = await new Promise<Socket>((resolve, reject) => {
      const to = { hostname: '127.0.0.1', host: '127.0.0.1', protocol: 'http:', port: `${port}` };
      connectEagerly({ timeout: 1_000 })(to, (error, socket) => {
        if (error) reject(error);
        else resolve(socket);
      });
    });
    opened.push(here);
    return { here, there: (await connected)[0] };
  }

  /** Reads as undici does: all there is, whenever there is something. */
  function readAll(socket: Socket, got: Buffer[]): () => void {
    return () => {
      for (;;) {
        const packet = socket.read() as Buffer | null;
        if (!packet) return;
        got.push(packet);
      }
    };
  }

  it('gives every byte, in order, and then the end', async () => {
    const { here, there } = await pair();
    const got: Buffer[] = [];
    here.on('readable', readAll(here, got));
    there.write('one');
    there.end(LARGE);
    await once(here, 'end');
    expect(Buffer.concat(got).equals(Buffer.concat([Buffer.from('one'), LARGE]))).to.equal(true);
  });

  it('gives a packet in the turn in which it came, before any stream keeps it', async () => {
    const { here, there } = await pair();
    const got: Buffer[] = [];
    const seen: unknown[] = [];
    const take = readAll(here, got);
    here.on('readable', () => {
      // Within the call of the socket's own handle; a tick later it would be that of the tick.
      seen.push({ by: executionAsyncResource().constructor.name, kept: here.readableLength });
      take();
    });
    there.write('now');
    await once(here, 'readable');
    expect(seen).to.deep.equal([{ by: 'TCP', kept: 0 }]);
    expect(Buffer.concat(got).toString()).to.equal('now');
  });

  it('leaves a packet as it was when the next one comes, on whichever socket', async () => {
    const pairs = [await pair(), await pair()];
    const got: Buffer[] = [];
    for (const { here } of pairs) here.on('readable', readAll(here, got));
    for (const text of ['first', 'other', 'third']) {
      const { here, there } = pairs[got.length % 2] as (typeof pairs)[number];
      there.write(text);
      await once(here, 'readable');
    }
    expect(got.map(String)).to.deep.equal(['first', 'other', 'third']);
  });

  it('tells one listener when its packet has been read, in the same turn', async () => {
    const { here, there } = await pair();
    const told: string[] = [];
    const listener = (name: string) => ({ packetOver: () => void told.push(name) });
    const [one, other] = [listener('one'), listener('other')];
    expect(untilPacketOver(one)).to.equal(false);
    here.on('readable', () => {
      const packet = here.read() as Buffer | null;
      if (!packet) return;
      told.push(packet.toString());
      expect([one, one, other].map(untilPacketOver)).to.deep.equal([true, true, false]);
      queueMicrotask(() => told.push('later'));
    });
    there.write('now');
    while (!told.includes('later')) await once(here, 'readable');
    expect(told).to.deep.equal(['now', 'one', 'later']);
    expect(untilPacketOver(one)).to.equal(false);
  });

  it('keeps what its reader has no time for, and then stops the sender', async () => {
    const { here, there } = await pair();
    const got: Buffer[] = [];
    let isPaused = true;
    const take = readAll(here, got);
    here.on('readable', () => {
      if (!isPaused) take();
    });
    there.end(LARGE);
    while (here.readableLength < here.readableHighWaterMark) await once(here, 'readable');
    const read = here.bytesRead;
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect(here.bytesRead).to.equal(read).and.to.be.below(LARGE.length);
    isPaused = false;
    take();
    await once(here, 'end');
    expect(Buffer.concat(got).equals(LARGE)).to.equal(true);
  });

  it('says why there is no connection', async () => {
    server.close();
    const refused = createServer().listen(0, '127.0.0.1');
    await once(refused, 'listening');
    ({ port } = refused.address() as AddressInfo);
    refused.close();
    await once(refused, 'close');
    const failed = await pair().catch((error: unknown) => error);
    expect(failed).to.have.property('code', 'ECONNREFUSED');
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
});
