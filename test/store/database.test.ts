import { expect } from 'chai';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { openStore } from '../../src/store/open.js';
import { startProxy } from '../helpers/proxy.js';
import { dollars, onEachStore, refusal, type Ground } from './helpers/ground.js';

onEachStore('a read whose connection ends without a word', testEnds, ['PostgreSQL']);

function testEnds(ground: Ground): void {
  it('is repeated', async () => {
    const { id } = await (await ground.open()).createAccount('ann', dollars(1));
    const target = new URL(ground.place.url);
    const sockets = new Set<Socket>();
    let cuts = 0;
    const cutter = createServer((client) => {
      const server = connect(Number(target.port || 5432), target.hostname);
      for (const socket of [client, server]) {
        sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => [client, server].forEach((one) => one.destroy()));
      }
      server.pipe(client);
      client.on('data', (bytes) => {
        if (cuts > 0 && bytes.includes('from "accounts"')) {
          cuts -= 1;
          client.destroy();
        } else server.write(bytes);
      });
    }).listen(0, '127.0.0.1');
    await once(cutter, 'listening');
    const url = new URL(target);
    url.host = `127.0.0.1:${(cutter.address() as AddressInfo).port}`;
    const store = await openStore(url.href, { now: () => ground.now_ms });
    cuts = 3;
    expect((await store.account(id))?.name).to.equal('ann');
    expect(cuts).to.equal(0);
    await store.close();
    for (const socket of sockets) socket.destroy();
    cutter.close();
  });
}

onEachStore('a change while PostgreSQL refuses connections', testRefused, ['PostgreSQL']);

function testRefused(ground: Ground): void {
  it('fails as StoreUnreachable, with the message of the driver', async () => {
    const url = new URL(ground.place.url);
    const proxy = await startProxy(url.hostname, Number(url.port || 5432));
    url.port = String(proxy.port);
    const store = await openStore(url.href, { now: () => ground.now_ms });
    proxy.set('shut');
    const message = await refusal(store.createAccount('ann', dollars(1)));
    expect(message).to.match(/^StoreUnreachable: .*(ECONNREFUSED|Connection terminated)/u);
    proxy.set('here');
    expect((await store.createAccount('ann', dollars(1))).name).to.equal('ann');
    await store.close();
    await proxy.close();
  });
}
