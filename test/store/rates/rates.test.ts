import { expect } from 'chai';
import fc from 'fast-check';
import type { Rates } from '../../../src/core/limits.js';
import type { RateResult, RateStore } from '../../../src/store/rates/rate-types.js';
import { MemoryRates } from '../../../src/store/rates/memory-rates.js';
import { onEachStore } from '../helpers/ground.js';
import { Child } from '../helpers/child.js';

const CALLS = Number(process.env.TOLLGATE_TEST_RATE_CALLS ?? 800);
const MINUTE_MS = 60_000;
const BEGIN_MS = 1_800_000_000_000;

let last_id = 0;

/** A request of a key that is counted by these rates. */
async function take(
  store: RateStore,
  rates: Rates,
  { tokens = 0, key = 'key_1' } = {},
): Promise<RateResult & { end: (more_tokens?: number) => Promise<void> }> {
  const request_id = `r${(last_id += 1)}`;
  const limits = [{ counter: `key ${key}`, rates }];
  const result = await store.take({ request_id, limits, tokens });
  const windows_ms = result.counts.map((one) => one?.window_ms ?? 0);
  const end = async (more_tokens = 0): Promise<void> =>
    store.end({ request_id, limits, tokens: more_tokens, windows_ms });
  return { ...result, end };
}

function onEachCounter(
  define: (open: () => Promise<RateStore>, clock: { now_ms: number }) => void,
): void {
  describe('rates in memory', () => {
    const clock = { now_ms: BEGIN_MS };
    beforeEach(() => void (clock.now_ms = BEGIN_MS));
    define(() => Promise.resolve(new MemoryRates(() => clock.now_ms)), clock);
  });
  onEachStore('rates', (ground) => {
    define(async () => (await ground.open()).rates, ground);
  });
}

onEachCounter((open, clock) => {
  it('admit as many requests a minute as their limit, and again in the next', async () => {
    const store = await open();
    const rates = { requests_per_minute: 3 };
    for (const minute of [0, 1]) {
      clock.now_ms = BEGIN_MS + minute * MINUTE_MS + 59_999;
      const results = await Promise.all(Array.from({ length: 9 }, () => take(store, rates)));
      expect(results.filter(({ admitted }) => admitted)).to.have.length(3);
      const refused = await take(store, rates);
      expect(refused).to.deep.include({ admitted: false, at: 0, unit: 'requests' });
      const window_ms = BEGIN_MS + minute * MINUTE_MS;
      expect(refused.counts[0]).to.deep.include({ window_ms, requests: 3 });
    }
    expect((await take(store, rates, { key: 'key_2' })).admitted).to.equal(true);
    expect((await take(store, { requests_per_minute: 4 })).admitted, 'a raised limit').to.equal(
      true,
    );
  });

  it('count tokens by the most that they may be, and correct them by the usage', async () => {
    const store = await open();
    const rates = { tokens_per_minute: 100 };
    const first = await take(store, rates, { tokens: 90 });
    expect(await take(store, rates, { tokens: 11 })).to.deep.include({ unit: 'tokens' });
    await first.end(-60);
    const second = await take(store, rates, { tokens: 70 });
    expect(second.counts[0]).to.deep.include({ tokens: 100 });
    clock.now_ms += MINUTE_MS;
    expect((await take(store, rates, { tokens: 100 })).admitted).to.equal(true);
    await second.end(-70);
    expect(await take(store, rates, { tokens: 1 }), 'of an earlier minute').to.deep.include({
      unit: 'tokens',
    });
  });

  it('admit a request at once when another has ended', async () => {
    const store = await open();
    const rates = { concurrent_requests: 2 };
    const taken = await Promise.all(Array.from({ length: 5 }, () => take(store, rates)));
    const admitted = taken.filter((one) => one.admitted);
    expect(admitted).to.have.length(2);
    clock.now_ms += MINUTE_MS;
    expect(await take(store, rates)).to.deep.include({ at: 0, unit: 'concurrent' });
    await admitted[0]?.end();
    const next = await take(store, rates);
    expect(next).to.deep.include({ admitted: true });
    expect(next.counts[0]?.in_flight).to.equal(2);
    await store.sweep();
    expect(await take(store, rates)).to.deep.include({ unit: 'concurrent' });
  });

  it('count a request that one limit refuses in none', async () => {
    const store = await open();
    const limits = [
      { counter: 'key key_1', rates: { requests_per_minute: 9, concurrent_requests: 9 } },
      { counter: 'all', rates: { requests_per_minute: 2 } },
    ];
    const ask = (request_id: string) => store.take({ request_id, limits, tokens: 1 });
    await ask('a');
    await ask('b');
    expect(await ask('c')).to.deep.include({ admitted: false, at: 1, unit: 'requests' });
    const known = await take(store, { requests_per_minute: 9, concurrent_requests: 9 });
    expect(known.counts[0]).to.deep.include({ requests: 3, tokens: 2, in_flight: 3 });
  });

  it('tell what they have counted in the present minute, and count nothing by that', async () => {
    const store = await open();
    const rates = { tokens_per_minute: 100, concurrent_requests: 2 };
    await take(store, rates, { tokens: 9 });
    const window_ms = clock.now_ms - (clock.now_ms % MINUTE_MS);
    const none = { window_ms, requests: 0, tokens: 0, in_flight: 0 };
    for (const _again of [1, 2]) {
      expect(await store.counts(['key key_2', 'key key_1'])).to.deep.equal([
        none,
        { ...none, requests: 1, tokens: 9, in_flight: 1 },
      ]);
    }
    clock.now_ms += MINUTE_MS;
    expect(await store.counts(['key key_1'])).to.deep.equal([
      { ...none, window_ms: window_ms + MINUTE_MS, in_flight: 1 },
    ]);
  });

  it('begin no minute twice where clocks differ, and get over one that was wrong', async () => {
    const store = await open();
    const rates = { requests_per_minute: 2 };
    clock.now_ms = BEGIN_MS + MINUTE_MS;
    await take(store, rates);
    clock.now_ms = BEGIN_MS + MINUTE_MS - 1;
    expect((await take(store, rates)).counts[0]?.requests).to.equal(2);
    expect((await take(store, rates)).admitted).to.equal(false);
    clock.now_ms = BEGIN_MS - 10 * MINUTE_MS;
    expect((await take(store, rates)).counts[0]?.requests).to.equal(1);
  });

  it('agree with a plain model over random histories', async () => {
    const rates = { requests_per_minute: 4, tokens_per_minute: 20, concurrent_requests: 3 };
    const step = fc.oneof(
      fc.record({ take: fc.integer({ min: 0, max: 9 }) }),
      fc.record({ end: fc.nat(9), usage: fc.nat(9) }),
      fc.record({ wait_ms: fc.integer({ min: 1, max: 40_000 }) }),
    );
    const store = await open();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const key = `key_${(runs += 1)}`;
        const open_requests: { window_ms: number; tokens: number; end: (t: number) => unknown }[] =
          [];
        let [window_ms, requests, tokens, in_flight] = [0, 0, 0, 0];
        for (const one of steps) {
          if ('wait_ms' in one) clock.now_ms += one.wait_ms;
          else if ('end' in one) {
            const [ended] = open_requests.splice(one.end % (open_requests.length || 1), 1);
            if (!ended) continue;
            in_flight -= 1;
            if (ended.window_ms === window_ms) tokens += one.usage - ended.tokens;
            await ended.end(one.usage - ended.tokens);
          } else {
            const now_window_ms = clock.now_ms - (clock.now_ms % MINUTE_MS);
            if (now_window_ms !== window_ms) {
              [window_ms, requests, tokens] = [now_window_ms, 0, 0];
            }
            const fits = requests < 4 && in_flight < 3 && tokens + one.take <= 20;
            const result = await take(store, rates, { tokens: one.take, key });
            expect(result.admitted).to.equal(fits);
            if (!fits) continue;
            [requests, tokens, in_flight] = [requests + 1, tokens + one.take, in_flight + 1];
            open_requests.push({ window_ms, tokens: one.take, end: result.end });
            expect(result.counts).to.deep.equal([{ window_ms, requests, tokens, in_flight }]);
          }
        }
      }),
      { numRuns: CALLS / 20 },
    );
  });
});

onEachStore('rates of several processes', (ground, name) => {
  const processes = name === 'SQLite' ? 2 : 4;

  it('admit exactly their limit in each minute, and none beyond', async () => {
    const [minutes, limit] = [2, 37];
    const each = Math.ceil(CALLS / processes / minutes);
    const children = Array.from(
      { length: processes },
      () => new Child('rate-taker', ground.place.url, minutes, each, limit),
    );
    const ended = await Promise.all(children.map((child) => child.end()));
    expect(ended).to.deep.equal(children.map(() => 0));
    const admitted = new Map<string, number>();
    for (const window of children.flatMap(({ lines }) => lines)) {
      admitted.set(window, (admitted.get(window) ?? 0) + 1);
    }
    expect([...admitted.values()]).to.deep.equal([limit, limit]);
  });

  it('admit none beyond it, and free the requests at once of those that are killed', async () => {
    const store = await ground.open();
    const limit = 1_000_000;
    for (let kill = 1; kill <= 2; kill += 1) {
      const url = ground.place.url;
      const child = new Child('rate-taker', url, 1, 1_000_000, limit, 10);
      await child.settled(20 * kill);
      await child.kill();
      await store.recover();
      await store.rates.sweep();
      const [row] = await ground.place.sql(`select in_flight from rates where counter = 'all'`);
      expect(Number(row?.in_flight)).to.equal(0);
    }
    expect(await ground.place.sql('select * from rate_slots')).to.deep.equal([]);
    expect((await store.verify()).faults).to.deep.equal([]);
  });
});

onEachStore('rates in a store', (ground) => {
  const rates = { concurrent_requests: 1 };

  it('share their counters', async () => {
    const [one, other] = [await ground.open(), await ground.open()];
    const first = await take(one.rates, rates);
    expect((await take(other.rates, rates)).admitted).to.equal(false);
    await first.end();
    expect((await take(other.rates, rates)).admitted).to.equal(true);
  });

  it('end a request whose end was not written, once it is older than a lease', async () => {
    ground.now_ms = Date.now() - 120_000;
    const [store, other] = [await ground.open(), await ground.open()];
    await take(store.rates, rates);
    await store.rates.sweep();
    expect((await take(store.rates, rates)).admitted, 'a request in flight').to.equal(false);
    await other.heartbeat();
    await ground.place.sql(
      `update rate_slots set process_id = (select id from processes where id not in
        (select process_id from rate_slots))`,
    );
    await other.rates.sweep();
    expect((await take(store.rates, rates)).admitted).to.equal(true);
  });

  it('forget counters that nobody uses', async () => {
    const { rates: store } = await ground.open();
    await take(store, { requests_per_minute: 1 });
    await store.sweep();
    expect(await ground.place.sql('select counter from rates')).to.have.length(1);
    ground.now_ms += 7_200_000;
    await store.sweep();
    expect(await ground.place.sql('select counter from rates')).to.deep.equal([]);
  });
});
