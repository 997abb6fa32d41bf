import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../src/store/store-types.js';
import { isLong, SEED } from '../helpers/long.js';
import { until } from '../helpers/until.js';
import { chatJson, play, startUpstream, type FakeUpstream } from '../helpers/upstream.js';
import { dollars, onEachStore } from '../store/helpers/ground.js';
import { seeded, serve, type GatewayProcess } from './helpers/gateway-process.js';
import { allChargeRows } from './helpers/mixed-books.js';
import { pricedYaml } from './helpers/priced-yaml.js';

const KILLS = isLong ? 20 : 1;
/** The clients of each key. */
const CLIENTS = 6;
/** The requests a minute of one key, and the calls that the allowance of the other pays for. */
const CALLS = isLong ? 400 : 30;
/** The latest moment of a kill, in calls that have reached the upstream since a start. */
const LATEST = 40;

const MINUTE_MS = 60_000;
const CALL_NANO = 9n * 150n + 5n * 600n;
/** More than one call may cost: 20 output tokens, and a short prompt. */
const MOST_NANO = 40_000n;
const ALLOWANCE_NANO = BigInt(CALLS) * CALL_NANO + MOST_NANO;

/** When a call was sent, and when it reached the upstream. */
interface Reached {
  sent_ms: number;
  reached_ms: number;
}

/**
 * All processes of the store are killed at once while they serve calls at a rate and at an
 * allowance: both workers and their parent on SQLite, two gateways on PostgreSQL. What holds
 * afterwards: a call that the store has counted stays counted, so a minute has no call beyond the
 * rate; the calls that were counted and never sent are among those in flight at a kill. A charge
 * that was written stays, and a hold of a killed process is released.
 */
onEachStore('gateways killed at a rate and at an allowance', (ground) => {
  const random = seeded(SEED);
  let folder: string;
  let upstream: FakeUpstream;
  let store: Store;
  let keys: Record<'rated' | 'granted', { id: string; account_id: string; secret: string }>;
  let sent: number[];
  let reached: Record<keyof typeof keys, Reached[]>;
  let happened: () => void;
  let serving: GatewayProcess[];

  beforeEach(async () => {
    [sent, reached, serving] = [[], { rated: [], granted: [] }, []];
    happened = () => undefined;
    folder = await mkdtemp(join(tmpdir(), 'tollgate-limits-kill-'));
    upstream = await startUpstream(async ({ body }, response) => {
      const [, name = '', at = ''] = /(rated|granted) (\d+)/u.exec(body) ?? [];
      const times = { sent_ms: sent[Number(at)] ?? NaN, reached_ms: Date.now() };
      reached[name as keyof typeof keys].push(times);
      happened();
      await play(chatJson('Hello'), response);
    });
    ground.now_ms = Date.now();
    store = await ground.open();
    const key = async (name: string, terms: Parameters<Store['createKey']>[2]) => {
      const { id: account_id } = await store.createAccount(name, dollars(1));
      const { key: made, secret } = await store.createKey(account_id, name, terms);
      return { id: made.id, account_id, secret };
    };
    keys = {
      rated: await key('rated', { rates: { requests_per_minute: CALLS } }),
      granted: await key('granted', { allowances: { '2d': ALLOWANCE_NANO } }),
    };
    const yaml = pricedYaml({ upstream: upstream.url, store: ground.place.url, max_tokens: 20 });
    await writeFile(join(folder, 'gateway.yaml'), yaml);
  });
  afterEach(async () => {
    for (const one of serving) await one.kill();
    await upstream.close();
    await rm(folder, { recursive: true, force: true });
  });

  it(`pass neither of them, ${KILLS} kills over (seed ${SEED})`, async () => {
    const begun_ms = Date.now();
    for (let kill = 0; kill < KILLS; kill += 1) {
      await serveUntilKilled(1 + Math.floor(random() * LATEST));
      await until(async () => {
        await store.recover();
        return (await store.verify()).open_holds === 0;
      }, 'the holds of the killed end');
      await compareRate(begun_ms);
      await compareAllowance();
    }
    serving = await start();
    // One at a time, so that no hold of another call refuses one that has room.
    expect(await callUntilRefused('rated')).to.equal(429);
    expect(await callUntilRefused('granted')).to.equal(402);
    await compareRate(begun_ms);
    const left_nano = await compareAllowance();
    expect(left_nano < MOST_NANO, 'the allowance is used up').to.equal(true);
  }).timeout(600_000);

  function start(): Promise<GatewayProcess[]> {
    const file = join(folder, 'gateway.yaml');
    const isSqlite = ground.place.dialect === 'sqlite';
    return Promise.all(isSqlite ? [serve(file, '--workers', '2')] : [serve(file), serve(file)]);
  }

  async function serveUntilKilled(moment: number): Promise<void> {
    serving = await start();
    let count = 0;
    let killed: Promise<unknown> | undefined;
    happened = () => {
      count += 1;
      if (count >= moment) killed ??= Promise.all(serving.map((one) => one.kill()));
    };
    const client = async (name: keyof typeof keys, at: number): Promise<void> => {
      while (!killed) {
        const status = await call(name, at).catch(() => undefined);
        if (status !== undefined) expect(status).to.be.oneOf([200, 402, 429]);
        if (status !== 200) happened();
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, at) => [
      client('rated', at),
      client('granted', at),
    ]);
    await Promise.all(clients.flat());
    await killed;
    happened = () => undefined;
  }

  /** Calls one of the gateways; the status of the answer. */
  async function call(name: keyof typeof keys, at: number): Promise<number> {
    const { url } = serving[at % serving.length]!;
    const number = sent.push(Date.now()) - 1;
    const messages = [{ role: 'user', content: `${name} ${number}` }];
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys[name].secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages }),
    });
    await response.text();
    return response.status;
  }

  async function callUntilRefused(name: keyof typeof keys): Promise<number> {
    for (let at = 0; ; at += 1) {
      const status = await call(name, at);
      if (status !== 200) return status;
    }
  }

  async function compareRate(begun_ms: number): Promise<void> {
    const minutes = minuteOf(Date.now()) - minuteOf(begun_ms) + 1;
    expect(reached.rated.length).to.be.at.most(CALLS * minutes);
    const [counter] = await ground.place.sql(
      `select window_ms, requests from rates where counter = 'key ${keys.rated.id}'`,
    );
    const [window_ms, requests] = [Number(counter?.window_ms), Number(counter?.requests)];
    expect(requests).to.be.at.most(CALLS);
    const [certain, possible] = [
      reached.rated.filter(({ sent_ms }) => sent_ms >= window_ms),
      reached.rated.filter(({ reached_ms }) => reached_ms >= window_ms),
    ];
    expect(certain.length, 'what reached the upstream is counted').to.be.at.most(requests);
    expect(requests - possible.length, 'counted and never sent').to.be.at.most(CLIENTS * KILLS);
  }

  /** Resolves with what is left. */
  async function compareAllowance(): Promise<bigint> {
    expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
    const charges = await allChargeRows(store, keys.granted.account_id);
    expect(charges.length).to.be.at.most(reached.granted.length);
    const spent_nano = charges.reduce((sum, { amount_nano }) => sum - amount_nano, 0n);
    const states = await store.allowances('key', [keys.granted.id]);
    expect(states.get(keys.granted.id)?.[0]).to.deep.include({ spent_nano, held_nano: 0n });
    const left_nano = ALLOWANCE_NANO - spent_nano;
    expect(left_nano >= 0n, `${left_nano} nano-dollars are left`).to.equal(true);
    return left_nano;
  }
});

function minuteOf(time_ms: number): number {
  return Math.floor(time_ms / MINUTE_MS);
}
