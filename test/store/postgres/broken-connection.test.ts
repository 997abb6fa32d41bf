import { expect } from 'chai';
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

onEachStore('the sweep of requests', testBreaks, ['PostgreSQL']);
