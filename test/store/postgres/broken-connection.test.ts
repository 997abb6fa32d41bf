import { expect } from 'chai';
import { sha256 } from '../../../src/store/keys/secret.js';
import { openStore } from '../../../src/store/open.js';
import { startProxy } from '../../helpers/proxy.js';
import { until } from '../../helpers/until.js';
import { onEachStore, refusal, type Ground } from '../helpers/ground.js';

const testBreaks = (ground: Ground): void => {
  it('ended the process if its connection broke within a transaction', async () => {
    const url = new URL(ground.place.url);
    const proxy = await startProxy(url.hostname, Number(url.port || 5432));
    url.port = String(proxy.port);
    const store = await openStore(url.href, { now: () => ground.now_ms });
    const before = { records_ms: 0, totals_ms: ground.now_ms };
    const unlock = await ground.place.lock('lock table request_totals in access exclusive mode');
    try {
      // Mocha would report an error that has no listener.
      const sweeping = refusal(store.requests.sweep(before));
      await until(async () => {
        const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock'
          and application_name = current_setting('application_name')`;
        return (await ground.place.sql(waiting)).length > 0;
      }, 'the sweep waits for the lock');
      proxy.set('away');
      expect(await sweeping).to.include('StoreUnreachable');
    } finally {
      await unlock();
    }
    proxy.set('here');
    expect(await store.requests.sweep(before)).to.equal(0);
    await store.close();
    await proxy.close();
  });
};

const testOpening = (ground: Ground): void => {
  it('ended the process if PostgreSQL ended it before anybody used it', async () => {
    const url = new URL(ground.place.url);
    const proxy = await startProxy(url.hostname, Number(url.port || 5432));
    url.port = String(proxy.port);
    const name = 'ended-early';
    url.searchParams.set('application_name', name);
    const store = await openStore(url.href, { now: () => ground.now_ms, purpose: 'using' });
    // The answer to the first statement of the connection, and the end, come in one packet.
    proxy.holdAnswerOf('pg_backend_pid', () =>
      ground.place
        .sql(`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = '${name}' and query like '%pg_backend_pid%'`)
        .then(() => undefined),
    );
    // Mocha would report an error that has no listener.
    expect(await refusal(store.hold('r1', 'acc_1', 1n, undefined))).to.include('StoreUnreachable');
    await store.ping();
    await store.close();
    await proxy.close();
  });
};

const testKeyReads = (ground: Ground): void => {
  it('is made once more if its connection breaks, and no more', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 1n);
    const { secret } = await store.createKey(id, 'k');
    const seen = new Set<unknown>();
    const read = (): Promise<unknown> =>
      store.caller(sha256(secret)).catch((error: unknown) => String(error));
    /** Waits for the next connection that reads the key, and ends it if it is to break. */
    const nextRead = async (breaks: boolean): Promise<void> => {
      const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock'
        and application_name = current_setting('application_name')`;
      let pid: unknown;
      await until(async () => {
        const rows = await ground.place.sql(waiting);
        pid = rows.map((row) => row.pid).find((one) => !seen.has(one));
        return pid !== undefined;
      }, 'a read of the key waits for the lock');
      seen.add(pid);
      if (breaks) await ground.place.sql(`select pg_terminate_backend(${String(pid)})`);
    };
    const lock = (): Promise<() => Promise<void>> =>
      ground.place.lock('lock table keys in access exclusive mode');
    const unlock = await lock();
    const mended = read();
    await nextRead(true);
    await nextRead(false);
    await unlock();
    expect(await mended).to.include({ account_id: id });

    seen.clear();
    const unlockAgain = await lock();
    const broken = read();
    await nextRead(true);
    await nextRead(true);
    expect(await broken).to.include('StoreUnreachable');
    await unlockAgain();
  });
};

onEachStore('the sweep of requests', testBreaks, ['PostgreSQL']);
onEachStore('a connection that is opened', testOpening, ['PostgreSQL']);
onEachStore('the read of a key', testKeyReads, ['PostgreSQL']);
