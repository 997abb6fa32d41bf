import { expect } from 'chai';
import { openStore } from '../../../src/store/open.js';
import { startProxy } from '../../helpers/proxy.js';
import { until } from '../../helpers/until.js';
import { onEachStore, refusal, type Ground } from '../helpers/ground.js';
import { recordAt, rollUp } from '../requests/helpers.js';

const testBreaks = (ground: Ground): void => {
  it('ended the process if its connection broke within a transaction', async () => {
    const url = new URL(ground.place.url);
    const proxy = await startProxy(url.hostname, Number(url.port || 5432));
    url.port = String(proxy.port);
    const store = await openStore(url.href, { now: () => ground.now_ms });
    await store.requests.add([recordAt(ground.now_ms)]);
    const unlock = await ground.place.lock('lock table request_totals in access exclusive mode');
    // Mocha would report the error that had no listener.
    const rolling = refusal(store.requests.rollUp());
    await until(async () => {
      const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock'
        and application_name = current_setting('application_name')`;
      return (await ground.place.sql(waiting)).length > 0;
    }, 'the roll-up waits for the lock');
    proxy.set('away');
    expect(await rolling).to.include('StoreUnreachable');
    proxy.set('here');
    await unlock();
    await rollUp(ground, store);
    const range = { from_ms: ground.now_ms - 1, to_ms: ground.now_ms + 1 };
    const [sum] = await store.requests.totals({ ...range, period: 'hour', by: [] });
    expect(sum?.calls).to.equal(1);
    await store.close();
    await proxy.close();
  });
};

onEachStore('the adding up of requests', testBreaks, ['PostgreSQL']);
