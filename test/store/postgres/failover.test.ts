import { expect } from 'chai';
import { openStore } from '../../../src/store/open.js';
import type { Store } from '../../../src/store/store-types.js';
import { StoreUnreachable } from '../../../src/store/store-error.js';
import { startCluster, type Cluster } from '../helpers/cluster.js';
import { chargeOf, dollars, refusal } from '../helpers/ground.js';

const now = (): number => Date.now();

/** The URL of a store with several hosts. */
function urlOf(...clusters: readonly Cluster[]): string {
  const [first = ''] = clusters.map(({ url }) => url);
  const hosts = clusters.map(({ url }) => new URL(url).host).join(',');
  return first.replace(new URL(first).host, hosts);
}

/** Calls again, as a client does, while the store cannot be reached. */
async function insistently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error;
    }
  }
}

describe('a store of several hosts', function () {
  let primary: Cluster;
  let standby: Cluster;
  let store: Store;

  before(async function () {
    if (!process.env.TOLLGATE_TEST_POSTGRES) this.skip();
    primary = await startCluster();
    standby = await primary.standby();
    // The standby stands first: it takes no writes, so the other host is found.
    store = await openStore(urlOf(standby, primary), { now });
  });
  after(async () => {
    await store?.close();
    for (const one of [primary, standby]) one?.stop();
  });

  it('is served by its new primary after the old one died: no charge is lost or doubled', async () => {
    const { id, name } = await store.createAccount('ann', dollars(1_000));
    await store.createKey(id, 'k');
    const pay = async (request: string): Promise<void> => {
      await insistently(() => store.hold(request, id, dollars(1)));
      await insistently(() => store.charge(chargeOf(request, id, dollars(1))));
    };
    const before = Array.from({ length: 40 }, (_, at) => `before${at}`);
    await Promise.all(before.map(pay));
    const during = Array.from({ length: 40 }, (_, at) => `during${at}`);
    const paying = Promise.all(during.map(pay));
    primary.kill();
    standby.promote();
    await paying;
    expect((await store.accounts()).map((one) => [one.name, one.balance_nano])).to.deep.equal([
      [name, dollars(920)],
    ]);
    expect(await store.verify()).to.deep.include({
      faults: [],
      open_holds: 0,
      // The credit stands beside 80 charges.
      entries: 81,
    });
  });

  it('is found at a socket that has to take writes', async () => {
    const { username, port, pathname } = new URL(standby.url);
    const at = `user=${username}&host=${standby.folder}&port=${port}`;
    const url = `postgres://${pathname}?${at}&target_session_attrs=read-write`;
    const there = await openStore(url, { now });
    expect(await there.account('ann')).to.deep.include({ balance_nano: dollars(920) });
    await there.close();
  });

  it('says that no host takes writes while all that answer are standbys', async () => {
    standby.restart('-c default_transaction_read_only=on');
    const opened = refusal(openStore(urlOf(primary, standby), { now }));
    expect(await opened).to.match(/no host of the store takes writes/u);
    standby.restart();
    const { id } = await insistently(() => store.createAccount('bob', dollars(1)));
    expect(await insistently(() => store.hold('r', id, 1n))).to.deep.include({ admitted: true });
  });
});
