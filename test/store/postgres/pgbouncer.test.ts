import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { placeOfStore } from '../../../src/core/store-place.js';
import { checkOrThrow, Gateway } from '../../../src/gateway/gateway.js';
import { sha256 } from '../../../src/store/keys/secret.js';
import { openStore } from '../../../src/store/open.js';
import { StoreUnreachable } from '../../../src/store/store-error.js';
import type { Store } from '../../../src/store/store-types.js';
import { ask } from '../../helpers/ask.js';
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

const FILM = `owners: { acme: { name: Acme } }
providers: { sim: { uses: simulator, settings: { video_takes: 1ms }, poll_interval: 10ms } }
models:
  film:
    owner: acme
    capabilities: [video]
    upstreams: [{ provider: sim }]
    price: { per_video_second: { 720p: { silent: 0.02, audio: 0.02 } } }
    limits: { resolutions: [720p] }
`;

describe('two boxes behind a PgBouncer in transaction mode', function () {
  let cluster: Cluster;
  let pooler: Pooler;
  let folder: string;
  const gateways: Gateway[] = [];
  const urls: string[] = [];

  before(async function () {
    if (!process.env.TOLLGATE_TEST_POSTGRES || !HAS_PGBOUNCER) this.skip();
    cluster = await startCluster();
    pooler = await startPooler(cluster);
    folder = await mkdtemp(join(tmpdir(), 'tollgate-pooled-'));
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, `listen: 127.0.0.1:0\nstore: ${pooler.url}\n${FILM}`);
    for (let box = 0; box < 2; box += 1) {
      const parts = { log: pino({ level: 'silent' }), now, random: Math.random };
      const gateway = await Gateway.open(await checkOrThrow(file, {}), parts);
      gateways.push(gateway);
      urls.push(`http://127.0.0.1:${(await gateway.listen()).port}`);
    }
  });
  after(async () => {
    for (const gateway of gateways) await gateway.stop();
    await pooler?.stop();
    cluster?.stop();
    if (folder) await rm(folder, { recursive: true });
  });

  it('share videos and who is signed in: one orders, the other shows, each is charged once', async () => {
    const [one, two] = urls as [string, string];
    const [{ store }] = gateways as [Gateway];
    const { id: account_id } = await store.createAccount('ann', dollars(1_000));
    const { secret } = await store.createKey(account_id, 'k');
    const body = JSON.stringify({ prompt: 'a kite', parameters: { duration_seconds: 4 } });
    const headers = { 'content-type': 'application/json' };
    const ordered = await Promise.all(
      urls.flatMap((url) =>
        Array.from({ length: 5 }, () =>
          ask({ url, secret }, '/v1/queue/film', { method: 'POST', headers, body }),
        ),
      ),
    );
    for (const [at, { text }] of ordered.entries()) {
      const { request_id } = JSON.parse(text) as { request_id: string };
      // The other box than the one that took the order.
      const place = { url: at < 5 ? two : one, secret };
      let status = '';
      while (status !== 'COMPLETED') {
        const answer = await ask(place, `/v1/queue/film/requests/${request_id}`);
        expect(answer.status, answer.text).to.equal(200);
        ({ status } = JSON.parse(answer.text) as { status: string });
      }
    }
    const charges = await store.ledger(account_id, { limit: 100 });
    expect(charges.filter(({ kind }) => kind === 'charge')).to.have.length(ordered.length);
    expect(await store.verify()).to.deep.include({ faults: [], open_holds: 0 });

    const session = { account_id, email: null, via: 'link', operator: false } as const;
    const cookie = `session=${await store.sign_in.createSession(session)}`;
    const looks = async (): Promise<number[]> =>
      Promise.all(
        urls.map(
          async (url) => (await fetch(`${url}/api/account`, { headers: { cookie } })).status,
        ),
      );
    expect(await looks()).to.deep.equal([200, 200]);
    await store.sign_in.endSession(cookie.slice('session='.length));
    expect(await looks()).to.deep.equal([401, 401]);
  });
});
