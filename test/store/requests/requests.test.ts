import { expect } from 'chai';
import fc from 'fast-check';
import { FLAGS, type RequestRecord } from '../../../src/core/request-record.js';
import type { RequestFilter } from '../../../src/store/requests/request-types.js';
import type { Store } from '../../../src/store/store-types.js';
import { chargeOf, dollars, onEachStore } from '../helpers/ground.js';
import { recordAt, rollUp } from './helpers.js';

const HOUR_MS = 3_600_000;

/** Walks all pages, each of so many records. */
async function walk(store: Store, filter: RequestFilter, limit: number): Promise<RequestRecord[]> {
  const all: RequestRecord[] = [];
  for (;;) {
    const before = all.at(-1)?.id;
    const page = await store.requests.page({ ...filter, ...(before && { before }), limit });
    all.push(...page);
    if (page.length < limit) return all;
  }
}

/** An upstream that failed, and then one that answered. */
const FAILED = {
  provider: 'lab',
  model: 'llama',
  fault: 'rate_limited' as const,
  status: 429,
  codes: 'too_many_requests',
  message: 'The upstream is limiting the rate of calls.',
  took_ms: 12.5,
};
const FALLBACK = [FAILED, { ...FAILED, fault: null, status: null, codes: null, message: null }];

onEachStore('the records of requests', (ground) => {
  it('come back as they were written, each once', async () => {
    const store = await ground.open();
    const records = [
      recordAt(ground.now_ms),
      recordAt(ground.now_ms + 1, {
        attempts: FALLBACK,
        flags: FLAGS.fallback | FLAGS.client_left,
        streamed: true,
        first_token_ms: 41.625,
        units: { images: 2 },
        cached_tokens: 4,
        agent: 'codex',
        saved_nano: -(2n ** 62n),
        lost_nano: 3n,
        cost_nano: 2n ** 62n,
        uncollected_nano: 7n,
      }),
      recordAt(ground.now_ms + 2, {
        model: null,
        provider: null,
        upstream_model: null,
        attempts: [],
        status: 402,
        code: 'insufficient_balance',
        prompt_tokens: null,
        completion_tokens: null,
        cost_nano: 0n,
      }),
    ];
    await store.requests.add(records);
    await store.requests.add(records);
    expect(await walk(store, {}, 2)).to.deep.equal(records.toReversed());
    for (const record of records) {
      expect(await store.requests.one(record.id)).to.deep.equal(record);
    }
    expect(await store.requests.one('nobody')).to.equal(undefined);
    expect(await store.requests.one('\0')).to.equal(undefined);
    expect(store.requests.lost).to.equal(0);
  });

  it('come back as they were written, whatever they have in common', async () => {
    const store = await ground.open();
    const names = fc.constantFrom<Partial<RequestRecord>>(
      { account_id: 'acc_2' },
      { key_id: 'key_2' },
      { endpoint: 'responses' },
      { model: 'rare' },
      { model: null },
      { status: 206 },
      { streamed: true },
      { cached_tokens: 4 },
      { reasoning_tokens: 0 },
      { flags: 1 },
      { agent: 'codex' },
      { saved_nano: -5n },
      { lost_nano: 5n },
    );
    const figures = fc.record({
      differs: fc.boolean(),
      uncollected_nano: fc.constantFrom(0n, 0n, 0n, 7n),
      attempts: fc.constantFrom(undefined, [FAILED], FALLBACK, FALLBACK.toReversed()),
      prompt_tokens: fc.option(fc.nat(900)),
    });
    const batch = fc.tuple(names, fc.array(figures, { minLength: 1, maxLength: 40 }));
    let at_ms = 0;
    await fc.assert(
      fc.asyncProperty(batch, fc.nat(3), async ([own, all], again) => {
        const records = all.map(({ differs, attempts, ...rest }) => {
          const more = { ...(differs && own), ...rest, ...(attempts && { attempts }) };
          return recordAt(ground.now_ms + (at_ms += 1), more);
        });
        // Some are there already, as after a write whose answer was lost.
        await store.requests.add(records.slice(0, again));
        await store.requests.add(records);
        const found = await Promise.all(records.map(({ id }) => store.requests.one(id)));
        expect(found).to.deep.equal(records);
      }),
      { numRuns: 200 },
    );
    expect(store.requests.lost).to.equal(0);
  });

  it('are written with their charges, with what was collected', async () => {
    const store = await ground.open();
    const { id: account_id } = await store.createAccount('ann', dollars(1));
    const { key } = await store.createKey(account_id, 'laptop');
    const records = Array.from({ length: 20 }, (_, at) =>
      recordAt(ground.now_ms + at, { account_id, key_id: key.id, cost_nano: 100n }),
    );
    await Promise.all(
      records.map(async (record) => {
        await store.hold(record.id, account_id, 200n, key.id);
        const charge = chargeOf(record.id, account_id, 100n, { key_id: key.id, hold_nano: 200n });
        expect(await store.charge(charge, undefined, record)).to.deep.equal({
          uncollected_nano: 0n,
        });
      }),
    );
    const dear = recordAt(ground.now_ms + 50, { account_id, key_id: key.id });
    const charge = chargeOf(dear.id, account_id, dollars(3), { key_id: key.id });
    const rest_nano = dollars(2) + 2_000n;
    const settled = await store.charge(charge, undefined, dear);
    expect(settled).to.deep.equal({ uncollected_nano: rest_nano });
    expect(await store.charge(charge, undefined, dear)).to.equal(false);
    const kept = await walk(store, { account_id }, 100);
    expect(kept.map(({ id }) => id)).to.deep.equal(
      [...records, dear].map(({ id }) => id).toReversed(),
    );
    expect(kept[0]).to.deep.include({
      cost_nano: dollars(1) - 2_000n,
      uncollected_nano: rest_nano,
    });
    expect(kept.slice(1).every(({ cost_nano }) => cost_nano === 100n)).to.equal(true);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('stop no charge where they cannot be written', async () => {
    const store = await ground.open();
    const { id: account_id } = await store.createAccount('ann', dollars(1));
    await ground.place.sql('alter table requests rename column flags to flaws');
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map(async (at) => {
        const record = recordAt(ground.now_ms + at, { account_id });
        return store.charge(chargeOf(record.id, account_id, 5n), undefined, record);
      }),
    );
    const { balance_nano } = (await store.account(account_id)) ?? { balance_nano: 0n };
    if (ground.place.dialect === 'sqlite') {
      expect(outcomes.map(({ status }) => status)).to.deep.equal(Array(3).fill('fulfilled'));
      expect(dollars(1) - balance_nano).to.equal(15n);
      expect(store.requests.lost).to.equal(3);
    }
    await ground.place.sql('alter table requests rename column flaws to flags');
  });

  it('lose a record that the database refuses, and none beside it', async () => {
    const store = await ground.open();
    const { id: account_id } = await store.createAccount('ann', dollars(1));
    const bad = recordAt(ground.now_ms, { account_id, model: null, endpoint: null as never });
    const good = recordAt(ground.now_ms + 1, { account_id });
    await store.requests.add([bad, good]);
    expect(store.requests.lost).to.equal(1);
    const charged = { ...bad, id: recordAt(ground.now_ms + 2).id };
    await store.charge(chargeOf(charged.id, account_id, 5n), undefined, charged);
    expect(store.requests.lost).to.equal(2);
    expect((await store.account(account_id))?.balance_nano).to.equal(dollars(1) - 5n);
    expect((await walk(store, {}, 9)).map(({ id }) => id)).to.deep.equal([good.id]);
  });

  it('are found page by page under any filter, each once, the newest first', async () => {
    const store = await ground.open();
    const { id: account_id } = await store.createAccount('ann', 0n);
    const { key } = await store.createKey(account_id, 'laptop');
    const pick = <T>(list: readonly T[], at: number): T => list[at % list.length] as T;
    const records = Array.from({ length: 240 }, (_, at) => {
      const [status, code] = pick(
        [
          [200, null],
          [200, null],
          [402, 'insufficient_balance'],
          [502, 'upstream_error'],
        ] as const,
        at * 7,
      );
      return recordAt(ground.now_ms - ((at * 37) % 90) * HOUR_MS - (at % 3), {
        account_id: pick([account_id, 'acc_2'], at),
        key_id: pick([key.id, 'key_2'], at),
        model: pick(['m1', 'm2', 'm3', null], at * 5 + 1),
        provider: pick(['p1', 'p2', null], at),
        agent: pick(['codex', 'curl', null], at * 11),
        status,
        code,
      });
    });
    await store.requests.add(records.slice(0, 200));
    await rollUp(ground, store);
    // The totals do not have these yet, which are of the last hours.
    const late = records.slice(200).map((record) => ({ ...record, ...timed(ground.now_ms) }));
    await store.requests.add(late);
    const all = [...records.slice(0, 200), ...late].toSorted((a, b) => (a.id < b.id ? 1 : -1));
    const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
    const filters = fc.record({
      account_id: maybe(fc.constantFrom(account_id, 'acc_2', 'nobody')),
      key_id: maybe(fc.constantFrom(key.id, 'nothing')),
      model: maybe(fc.constantFrom('m1', 'm2', 'm9')),
      provider: maybe(fc.constantFrom('p1', 'p2')),
      agent: maybe(fc.constantFrom('codex', 'curl', 'aider')),
      status: maybe(fc.constantFrom(2, 4, 5, 200, 402)),
      code: maybe(fc.constantFrom('upstream_error', 'insufficient_balance')),
      failed: maybe(fc.boolean()),
      from_ms: maybe(fc.integer({ min: 0, max: 90 }).map((h) => ground.now_ms - h * HOUR_MS)),
      to_ms: maybe(fc.integer({ min: 0, max: 90 }).map((h) => ground.now_ms - h * HOUR_MS)),
    });
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 60 }), async (filter, limit) => {
        const given = Object.fromEntries(
          Object.entries(filter).filter(([, value]) => value !== undefined),
        ) as RequestFilter;
        const found = await walk(store, given, limit);
        const wanted = all.filter((record) => matches(record, given));
        expect(found.map(({ id }) => id)).to.deep.equal(wanted.map(({ id }) => id));
      }),
      { numRuns: 60 },
    );
  });

  function timed(now_ms: number): Pick<RequestRecord, 'id' | 'time_ms'> {
    const { id, time_ms } = recordAt(now_ms - 1_000);
    return { id, time_ms };
  }

  function matches(record: RequestRecord, filter: RequestFilter): boolean {
    const { status, failed, from_ms = 0, to_ms = Infinity, ...same } = filter;
    if (record.time_ms < from_ms || record.time_ms >= to_ms) return false;
    if (failed && record.code === null) return false;
    if (status !== undefined && record.status !== status) {
      if (Math.floor(record.status / 100) !== status) return false;
    }
    return Object.entries(same).every(
      ([name, value]) => record[name as keyof RequestRecord] === value,
    );
  }

  it('are the newest, also in an hour with more records than the totals count', async () => {
    const store = await ground.open();
    const records = Array.from({ length: 5 }, (_, at) =>
      recordAt(ground.now_ms - 3 * HOUR_MS + at, { model: 'rare' }),
    );
    await store.requests.add(records);
    await rollUp(ground, store);
    await ground.place.sql('update request_totals set calls = 1');
    const page = await store.requests.page({ model: 'rare', limit: 2 });
    const newest = records.slice(-2).toReversed();
    expect(page.map(({ id }) => id)).to.deep.equal(newest.map(({ id }) => id));
  });

  it('are swept step by step, but never before the totals have them', async () => {
    const store = await ground.open();
    const old = Array.from({ length: 1_200 }, (_, at) => recordAt(ground.now_ms - HOUR_MS + at));
    const young = recordAt(ground.now_ms);
    await store.requests.add(old);
    const before = { records_ms: ground.now_ms, totals_ms: 0 };
    expect(await store.requests.sweep(before)).to.equal(0);
    await store.requests.add([young]);
    await rollUp(ground, store);
    expect(await store.requests.sweep(before)).to.equal(1_200);
    expect((await walk(store, {}, 10)).map(({ id }) => id)).to.deep.equal([young.id]);
    // The next record may get the number of one that was swept, and is counted all the same.
    await store.requests.sweep({ records_ms: ground.now_ms + 1, totals_ms: 0 });
    await store.requests.add([recordAt(ground.now_ms + 2)]);
    await rollUp(ground, store);
    const range = { from_ms: ground.now_ms - 2 * HOUR_MS, to_ms: ground.now_ms + HOUR_MS };
    const [sum] = await store.requests.totals({ ...range, period: 'hour', by: [] });
    expect(sum?.calls).to.equal(1_202);
    await store.requests.sweep({ records_ms: 0, totals_ms: ground.now_ms + 2 * HOUR_MS });
    expect(await store.requests.totals({ ...range, period: 'hour', by: [] })).to.deep.equal([]);
    expect(await store.requests.latencies({ ...range, by: [] })).to.deep.equal([]);
  });
});
