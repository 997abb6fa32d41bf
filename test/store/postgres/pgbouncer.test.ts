import { expect } from 'chai';
import { placeOfStore } from '../../../src/core/store-place.js';
import { sha256 } from '../../../src/store/keys/secret.js';
import { openStore } from '../../../src/store/open.js';
import { StoreUnreachable } from '../../../src/store/store-error.js';
import type { Store } from '../../../src/store/store-types.js';
import { startCluster, type Cluster } from '../helpers/cluster.js';
import { chargeOf, dollars } from '../helpers/ground.js';
import { HAS_PGBOUNCER, startPooler, type Pooler } from '../helpers/pgbouncer.js';

const now = Date.now;
const CALLS = 60;

/** Calls again while the store cannot be reached; each try has its number. */
async function insistently<T>(work: (tries: number) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work(tries);
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error;
    }
  }
}

describe('two stores behind a PgBouncer in transaction mode', function () {
  let cluster: Cluster;
  let pooler: Pooler;
  let stores: Store[] = [];

  before(async function () {
    if (!process.env.TOLLGATE_TEST_POSTGRES || !HAS_PGBOUNCER) this.skip();
    cluster = await startCluster();
    pooler = await startPooler(cluster);
    const place = placeOfStore(pooler.url);
    stores = [
      await openStore(place, { now }),
      await openStore({ ...place, session_url: cluster.url }, { now }),
    ];
  });
  after(async () => {
    for (const store of stores) await store.close();
    await pooler?.stop();
    cluster?.stop();
  });

  it('are exact while it restarts: prepared names were missing, or of another statement', async () => {
    const [one, two] = stores as [Store, Store];
    const { id } = await one.createAccount('ann', dollars(1_000));
    const { key, secret } = await one.createKey(id, 'k');
    const key_id = key.id;
    const pay = async (store: Store, request: string): Promise<void> => {
      expect(await insistently(() => store.caller(sha256(secret)))).to.include({ key_id });
      const held = await insistently(async (tries) => {
        const name = `${request}-${tries}`;
        await store.hold(name, id, dollars(1), key_id);
        return name;
      });
      const charge = { ...chargeOf(held, id, dollars(1)), key_id };
      await insistently(() => store.charge(charge));
    };
    const round = (name: string): Promise<unknown> =>
      Promise.all(
        stores.flatMap((store, at) =>
          Array.from({ length: CALLS }, (_, call) => pay(store, `${name}-${at}-${call}`)),
        ),
      );
    await round('before');
    const during = round('during');
    await pooler.stop();
    await pooler.start();
    await during;
    for (const store of stores) await store.releaseForgotten(() => new Set());
    expect(await two.account('ann')).to.deep.include({
      balance_nano: dollars(1_000 - 4 * CALLS),
      held_nano: 0n,
    });
    await two.revokeKey(key_id, id);
    for (const store of stores) expect(await store.caller(sha256(secret))).to.equal(undefined);
    expect(await one.audit.list({ limit: 10 })).to.have.length.above(0);
    expect(await two.verify()).to.deep.include({
      faults: [],
      open_holds: 0,
      entries: 4 * CALLS + 1,
    });
  });
});
