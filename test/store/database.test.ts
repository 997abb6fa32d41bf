import { expect } from 'chai';
import { placeOfStore } from '../../src/core/store-place.js';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onPostgres, openDatabase } from '../../src/store/database.js';
import { forgetProcess, newProcess } from '../../src/store/leases/leases.js';
import { migrate } from '../../src/store/migrate.js';
import { openStore } from '../../src/store/open.js';
import { PostgresSession } from '../../src/store/postgres/postgres-session.js';
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

describe('an error of PostgreSQL', () => {
  const outages = ['08006', '25006', '28P01', '40001', '53100', '54000', '55P03', '57014', '58030'];
  const others = ['22003', '23505', '42P01', '0A000'];
  for (const code of [...outages, 'XX001', 'EHOSTUNREACH', 'CERT_HAS_EXPIRED', ...others]) {
    const isOutage = !others.includes(code);
    it(`with the code ${code} is ${isOutage ? 'an outage' : 'a fault of ours'}`, async () => {
      const fault = Object.assign(new Error('fault'), { code });
      const name = isOutage ? 'StoreUnreachable' : 'Error';
      const never = (): undefined => undefined;
      const said = await refusal(onPostgres(never, () => Promise.reject(fault)));
      expect(said).to.equal(`${name}: fault`);
    });
  }
});

onEachStore('a read beside a write that a read-only server refused', testReadOnly, ['PostgreSQL']);

function testReadOnly(ground: Ground): void {
  it('was a fault of ours if its connection was being left', async () => {
    const database = openDatabase(ground.place.url);
    let said = '';
    await database.snapshot(async (reading) => {
      // The snapshot is taken again, on another connection.
      if (said !== '') return;
      await reading.raw('select 1');
      await refusal(
        database.write((trx) =>
          trx.raw('set transaction read only').then(() => trx.raw('create table no (id text)')),
        ),
      );
      const never = (): undefined => undefined;
      said = await refusal(onPostgres(never, async () => reading.raw('select 2')));
    });
    expect(said).to.include('StoreUnreachable');
    await database.close();
  });
}

onEachStore('a statement that its client gave up on', testLimits, ['PostgreSQL']);

function testLimits(ground: Ground): void {
  const shown = 'show statement_timeout';

  it('ends at the server too, before the client of a call gives up', async () => {
    const self = newProcess(() => ground.now_ms);
    const session = new PostgresSession(placeOfStore(ground.place.url), self, () => ground.now_ms);
    await migrate(ground.place.url);
    const { rows } = await session.transaction((query) => query(shown));
    expect(rows).to.deep.equal([{ statement_timeout: '9s' }]);
    await session.close();
    forgetProcess(self);
  });

  it('ends at the server for a page or a command, but not for a proof of the ledger', async () => {
    const database = openDatabase(ground.place.url);
    const limitOf = (answer: { rows: { statement_timeout: string }[] }) => answer.rows[0];
    const page = await database.read((knex) => knex.raw(shown));
    const proof = await database.snapshot((trx) => trx.raw(shown));
    await database.close();
    expect(limitOf(page)).to.deep.equal({ statement_timeout: '1min' });
    expect(limitOf(proof)).to.deep.equal({ statement_timeout: '0' });
  });
}
