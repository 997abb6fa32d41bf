import { expect } from 'chai';
import fc from 'fast-check';
import { pino } from 'pino';
import { checkOrThrow, Gateway } from '../../../src/gateway/gateway.js';
import { StoreUnreachable } from '../../../src/store/store-error.js';
import { openAddressLimits } from '../../../src/store/rates/address-limits.js';
import { MemoryRates } from '../../../src/store/rates/memory-rates.js';
import { ask } from '../../helpers/ask.js';
import { startGateway } from '../../helpers/gateway.js';
import { onEachStore } from '../helpers/ground.js';

const MINUTE_MS = 60_000;
const HOME = '203.0.113.7';
const YAML = `owners: { acme: { name: Acme } }
providers: { sim: { uses: simulator } }
models: { m: { owner: acme, capabilities: [chat], upstreams: [{ provider: sim }], price: free } }
limits: { failed_keys: 3 }
`;

onEachStore('the limits of an address over all boxes', (ground) => {
  async function box() {
    const store = await ground.open();
    const now = () => ground.now_ms;
    return { store, limits: openAddressLimits(store.rates, now) };
  }
  const counters = async (): Promise<unknown[]> => {
    const rows = await ground.place.sql("select counter from rates where counter <> 'all'");
    return rows.map(({ counter }) => counter);
  };

  beforeEach(() => {
    ground.now_ms -= ground.now_ms % MINUTE_MS;
  });

  it('let no more wrong keys through than at one box, however they are spread', async () => {
    const boxes = await Promise.all([box(), box(), box()]);
    const run = async (turns: readonly number[]): Promise<void> => {
      ground.now_ms += 5 * MINUTE_MS;
      const waits = await Promise.all(
        turns.map(async (at) => boxes[at % 3]!.limits.failed_keys.consume(HOME, 5)),
      );
      const admitted = waits.filter((wait_ms) => wait_ms === 0).length;
      expect(admitted).to.equal(Math.min(5, turns.length));
      for (const wait_ms of waits) expect(wait_ms).to.be.within(0, MINUTE_MS);
    };
    const turns = fc.array(fc.nat(2), { maxLength: 20 });
    await fc.assert(fc.asyncProperty(turns, run), { numRuns: 25 });
  });

  it('say how long to wait, count each address and each limit by itself, and begin anew', async () => {
    const [one, other] = [await box(), await box()];
    ground.now_ms += 20_000;
    for (const { limits } of [one, other]) {
      expect(await limits.failed_keys.consume(HOME, 2)).to.equal(0);
    }
    expect(await other.limits.failed_keys.consume(HOME, 2)).to.equal(40_000);
    expect(await other.limits.failed_keys.consume('203.0.113.8', 2)).to.equal(0);
    expect(await other.limits.sign_ins.consume(HOME, 2)).to.equal(0);
    ground.now_ms += 40_000;
    expect(await one.limits.failed_keys.consume(HOME, 2)).to.equal(0);
  });

  it('keep no address for longer than the minute after', async () => {
    const { store, limits } = await box();
    await limits.failed_keys.consume(HOME, 2);
    await limits.sign_ins.consume(HOME, 2);
    await store.rates.sweep();
    expect(await counters()).to.have.members([
      `address failed_keys ${HOME}`,
      `address sign_ins ${HOME}`,
    ]);
    ground.now_ms += MINUTE_MS;
    await store.rates.sweep();
    expect(await counters()).to.deep.equal([]);
  });

  it('write nothing for an address that has used up its minute', async () => {
    const [one, other] = [await box(), await box()];
    expect(await one.limits.failed_keys.consume(HOME, 1)).to.equal(0);
    expect(await other.limits.failed_keys.consume(HOME, 1)).to.equal(MINUTE_MS);
    await ground.place.sql('delete from rates');
    for (let call = 0; call < 3; call += 1) {
      for (const { limits } of [one, other]) {
        expect(await limits.failed_keys.consume(HOME, 1)).to.be.greaterThan(0);
      }
    }
    expect(await counters()).to.deep.equal([]);
  });

  it('stay those of each process while the store takes no write, and hide no other fault', async () => {
    const { store } = await box();
    let error = new Error('a fault of the code');
    const rates = Object.assign(store.rates, { take: () => Promise.reject(error) });
    const { failed_keys } = openAddressLimits(rates, () => ground.now_ms);
    const fault = await Promise.resolve(failed_keys.consume(HOME, 2)).catch(String);
    expect(fault).to.include('a fault of the code');
    error = new StoreUnreachable(new Error('read-only'));
    expect(await failed_keys.consume(HOME, 2)).to.equal(0);
    expect(await failed_keys.consume(HOME, 2)).to.be.greaterThan(0);
  });

  it('refuse at both gateways the wrong keys that were sent to either, and no good key', async () => {
    const now = () => ground.now_ms;
    const one = await startGateway(YAML, { store: ground.place.url, has_workers: true, now });
    const log = pino({ level: 'silent' });
    const parts = { log, now, random: Math.random, has_workers: true };
    const other = await Gateway.open(await checkOrThrow(one.file, {}), parts);
    const { port } = await other.listen();
    const urls = [one.url, `http://127.0.0.1:${port}`];
    try {
      const statusAt = async (url: string, secret: string): Promise<number> =>
        (await ask({ url, secret }, '/v1/models')).status;
      const statuses: number[] = [];
      for (const url of [...urls, ...urls, one.url]) {
        statuses.push(await statusAt(url, 'tg-wrong'));
      }
      expect(statuses).to.deep.equal([401, 401, 401, 429, 429]);
      const before = await counters();
      expect(before).to.deep.equal(['address failed_keys 127.0.0.1']);
      const rows = () => ground.place.sql('select * from rates');
      const counted = await rows();
      for (const url of urls) expect(await statusAt(url, one.secret)).to.equal(200);
      expect(await rows(), 'a good key writes no counter').to.deep.equal(counted);
    } finally {
      await other.stop();
      await one.close();
    }
  });
});

describe('the limits of an address at a process alone', () => {
  it('are counted in memory', async () => {
    const rates = new MemoryRates(() => 0);
    const { failed_keys } = openAddressLimits(rates, () => 0);
    expect(await failed_keys.consume(HOME, 1)).to.equal(0);
    expect(await failed_keys.consume(HOME, 1)).to.equal(MINUTE_MS);
    expect(rates.size).to.equal(0);
  });
});
