import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDollars } from '../../src/lib/money.js';
import type { RequestRecord } from '../../src/core/request-record.js';
import type { Store } from '../../src/store/store-types.js';
import { freePort } from '../helpers/free-port.js';
import { scrape } from '../helpers/prometheus.js';
import { until } from '../helpers/until.js';
import { onEachStore } from '../store/helpers/ground.js';
import { isLong, SEED } from '../helpers/long.js';
import { run, seeded, serve, type GatewayProcess } from './helpers/gateway-process.js';
import {
  allCharges,
  allRecords,
  counted,
  differences,
  missing,
  totalled,
} from './helpers/mixed-books.js';
import { MixedClients, type Place } from './helpers/mixed-clients.js';
import { KINDS, type Kind } from './helpers/mixed-kinds.js';

/** How many calls each test makes. */
const CALLS = Number(process.env.TOLLGATE_TEST_CALLS ?? (isLong ? '10000' : '100'));
const KILLS = isLong ? 3 : 1;
/** A record that no charge takes along waits a second, and then for a busy process. */
const MAX_LOST_MS = 5_000;
const DEADLINE_MS = 60_000;

onEachStore(`${CALLS} mixed calls`, (ground, name) => {
  let folder: string;
  let config: string;
  let metrics: string;
  let store: Store;
  let clients: MixedClients;
  let account_id: string;
  let secrets: Place['secrets'];
  let gateway: GatewayProcess | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-mixed-'));
    config = join(folder, 'gateway.yaml');
    ground.now_ms = Date.now();
    store = await ground.open();
    ({ id: account_id } = await store.createAccount('rich', parseDollars('100000')));
    const { id: poor } = await store.createAccount('poor', 1n);
    secrets = {
      rich: (await store.createKey(account_id, 'rich')).secret,
      poor: (await store.createKey(poor, 'poor')).secret,
      nobody: 'tg-nobody',
    };
    clients = await MixedClients.start();
    const port = await freePort();
    metrics = `http://127.0.0.1:${port}/metrics`;
    await writeFile(config, yaml(ground.place.url, port, clients));
  });

  afterEach(async () => {
    await gateway?.kill();
    gateway = undefined;
    await clients.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function begin(...args: string[]): Promise<Place> {
    gateway = await serve(config, ...args);
    return { url: gateway.url, secrets };
  }

  /** All records, once the store has as many, and the totals have them. */
  async function recordsOf(count: number): Promise<RequestRecord[]> {
    const has = async (condition: string): Promise<number> => {
      const [row] = await ground.place.sql(`select count(*) as n from requests ${condition}`);
      return Number(row?.n);
    };
    await until(async () => (await has('')) >= count, `${count} records`, DEADLINE_MS);
    await rolledUp(has);
    return allRecords(store);
  }

  async function rolledUp(has: (condition: string) => Promise<number>): Promise<void> {
    const fresh = 'where seq > (select upto from request_roll_up)';
    await until(async () => (await has(fresh)) === 0, 'all records in the totals', DEADLINE_MS);
  }

  async function expectVerified(): Promise<void> {
    const { code, output } = await run(['verify', '--json', '--config', config]);
    expect(JSON.parse(output)).to.deep.include({ open_holds: 0, faults: [] });
    expect(code).to.equal(0);
  }

  // On PostgreSQL one process alone is looked at below, where it is killed.
  const isShort = !isLong && name === 'PostgreSQL';
  for (const workers of isShort ? ['2'] : ['1', '2']) {
    it(`are recorded as their clients saw them, with --workers ${workers}`, async function () {
      this.timeout(600_000 + CALLS * 20);
      const place = await begin('--workers', workers);
      await clients.call(place, CALLS);
      const { tally } = clients;
      expect(tally.odd.slice(0, 5)).to.deep.equal([]);
      const unknown = [...tally.seen.values()].filter(({ kind }) => kind === 'without a key');
      const count = tally.seen.size - unknown.length + tally.left_early;
      const records = await recordsOf(count);
      expect(records).to.have.length(count);
      const charges = await allCharges(store, account_id);
      expect(differences(tally, records, charges).slice(0, 5)).to.deep.equal([]);
      expect(missing(tally, records)).to.deep.equal([]);
      for (const period of ['hour', 'day'] as const) {
        const [told, wanted] = await totalled(store, period, records);
        expect(told, `totals by the ${period}`).to.deep.equal(wanted);
      }
      const [told, wanted] = counted(await scrape(metrics), records);
      expect(told).to.deep.equal(wanted);
      expect(await gateway?.stop()).to.equal(0);
      await expectVerified();
    });
  }

  it(`lose no charge where their process is killed (seed ${SEED})`, async function () {
    this.timeout(600_000 + CALLS * 20);
    const random = seeded(SEED);
    const each = Math.ceil(CALLS / KILLS);
    const excused = new Set<string>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const killed_ms = await callUntilKilled(each, 0.3 + 0.6 * random());
      const records = await allRecords(store);
      const lost = missing(clients.tally, records).filter((id) => !excused.has(id));
      for (const id of lost) excused.add(id);
      expect(lost.filter((id) => !isExcused(id, killed_ms))).to.deep.equal([]);
    }
    expect(clients.tally.odd.slice(0, 5)).to.deep.equal([]);
    await begin();
    await until(async () => (await store.verify()).open_holds === 0, 'no open hold', DEADLINE_MS);
    const records = await recordsOf(0);
    const charges = await allCharges(store, account_id);
    expect(differences(clients.tally, records, charges).slice(0, 5)).to.deep.equal([]);
    for (const period of ['hour', 'day'] as const) {
      const [told, wanted] = await totalled(store, period, records);
      expect(told, `totals by the ${period}`).to.deep.equal(wanted);
    }
    expect(await gateway?.stop()).to.equal(0);
    await expectVerified();
  });

  /** Kills the process when that share of the calls is answered; answers when that was. */
  async function callUntilKilled(calls: number, share: number): Promise<number> {
    const place = await begin();
    const before = clients.tally.seen.size;
    let killed_ms = 0;
    const isOver = (): boolean => {
      if (killed_ms > 0) return true;
      if (clients.tally.seen.size - before < calls * share) return false;
      killed_ms = Date.now();
      clients.mayBreak = true;
      void gateway?.kill();
      return true;
    };
    await clients.call(place, calls, isOver);
    await gateway?.kill();
    clients.mayBreak = false;
    return killed_ms;
  }

  /** Unpaid, or not paid yet as its client had left it, a moment before the kill. */
  function isExcused(id: string, killed_ms: number): boolean {
    const seen = clients.tally.seen.get(id);
    if (!seen) return false;
    const { cost_nano }: Kind = KINDS[seen.kind];
    const isUnpaid = cost_nano === 0n || seen.kind === 'left in the stream';
    return isUnpaid && killed_ms - seen.ended_ms < MAX_LOST_MS;
  }
});

function yaml(store: string, port: number, { upstreams }: MixedClients): string {
  const price = '{ input_per_million: 0.15, output_per_million: 0.60 }';
  return `listen: 127.0.0.1:0
store: ${JSON.stringify(store)}
metrics: 127.0.0.1:${port}
log: { level: silent }
headers: { cost: true }
limits: { linger: 20ms, failed_keys: 20 }
defaults: { retry: { attempts: 0 } }
owners: { acme: { name: Acme } }
providers:
  one: { uses: openai, base_url: "${upstreams.one.url}", api_key: sk-one }
  two: { uses: openai, base_url: "${upstreams.two.url}", api_key: sk-two }
models:
  m:
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: one }, { provider: two }]
    limits: { max_tokens: 100 }
    price: ${price}
  free: { owner: acme, capabilities: [chat], upstreams: [{ provider: one }], price: free }
  e:
    owner: acme
    capabilities: [embedding]
    upstreams: [{ provider: one }]
    price: { input_per_million: 0.1 }
  i:
    owner: acme
    capabilities: [image]
    upstreams: [{ provider: one }]
    price: { per_image: 0.04 }
`;
}
