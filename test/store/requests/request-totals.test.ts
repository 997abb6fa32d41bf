import { expect } from 'chai';
import { FLAGS, type RequestRecord } from '../../../src/core/request-record.js';
import { dollars, onEachStore, refusal } from '../helpers/ground.js';
import type { TotalsQuery } from '../../../src/store/requests/request-types.js';
import { recordAt, rollUp } from './helpers.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

onEachStore('the totals of requests', (ground) => {
  /** Two hours of calls by two accounts, on two models, some of which fail. */
  function recordsOf(now_ms: number): RequestRecord[] {
    return Array.from({ length: 400 }, (_, at) => {
      const fails = at % 10 === 3;
      return recordAt(now_ms - (at % 2) * HOUR_MS, {
        account_id: at % 4 < 3 ? 'acc_1' : 'acc_2',
        key_id: at % 4 < 2 ? 'key_1' : 'key_2',
        model: at % 5 === 0 ? 'dear' : 'cheap',
        provider: at % 8 === 0 ? 'lab' : 'openai',
        status: fails ? 502 : 200,
        code: fails ? 'upstream_error' : null,
        cost_nano: fails ? 0n : BigInt(at),
        took_ms: at + 1,
        first_token_ms: at % 3 === 0 ? at / 2 : null,
        cached_tokens: at % 3 === 0 ? 2 : null,
        flags: at % 6 === 0 ? FLAGS.estimated | FLAGS.fallback : at % 7 === 0 ? FLAGS.moved : 0,
        agent: ['codex', 'claude-cli', null][at % 3] ?? null,
        saved_nano: at % 9 === 0 ? -BigInt(at) : 5n,
        lost_nano: at % 7 === 0 ? 3n : 0n,
        upstream_cost_nano: at % 5 === 0 ? null : BigInt(at % 11),
      });
    });
  }

  const sum = <T>(all: readonly T[], of: (one: T) => number): number =>
    all.reduce((total, one) => total + of(one), 0);

  it('are those of the records, however they are split', async () => {
    const store = await ground.open();
    const records = recordsOf(ground.now_ms);
    await store.requests.add(records);
    await rollUp(ground, store);
    const range = { from_ms: ground.now_ms - 2 * HOUR_MS, to_ms: ground.now_ms + HOUR_MS };
    const splits = [
      [],
      ['model'],
      ['account_id'],
      ['key_id'],
      ['agent'],
      ['key_id', 'agent'],
      ['start_ms', 'model', 'provider', 'status', 'agent'],
    ] as const;
    for (const by of splits) {
      const rows = await store.requests.totals({ ...range, period: 'hour', by });
      const nameOf = (one: object): string =>
        JSON.stringify(by.map((name) => (one as Record<string, unknown>)[name]));
      const groups = new Map<string, RequestRecord[]>();
      for (const record of records) {
        const { time_ms, agent } = record;
        const name = nameOf({
          ...record,
          start_ms: time_ms - (time_ms % HOUR_MS),
          agent: agent ?? '',
        });
        groups.set(name, [...(groups.get(name) ?? []), record]);
      }
      expect(rows.map(nameOf).sort()).to.deep.equal([...groups.keys()].sort());
      for (const row of rows) {
        const some = groups.get(nameOf(row)) ?? [];
        expect(row).to.deep.include({
          calls: some.length,
          failed: some.filter(({ code }) => code !== null).length,
          estimated: some.filter(({ flags }) => flags & FLAGS.estimated).length,
          fallbacks: some.filter(({ flags }) => flags & FLAGS.fallback).length,
          moved: some.filter(({ flags }) => flags & FLAGS.moved).length,
          saved_nano: some.reduce((total, { saved_nano }) => total + saved_nano, 0n),
          lost_nano: some.reduce((total, { lost_nano }) => total + lost_nano, 0n),
          upstream_cost_nano: some.reduce(
            (total, one) => total + (one.upstream_cost_nano ?? 0n),
            0n,
          ),
          profit_nano: some.reduce((total, { cost_nano, upstream_cost_nano: taken }) => {
            return taken === null ? total : total + cost_nano - taken;
          }, 0n),
          prompt_tokens: 9 * some.length,
          cached_tokens: sum(some, ({ cached_tokens }) => cached_tokens ?? 0),
          cost_nano: some.reduce((total, { cost_nano }) => total + cost_nano, 0n),
          took_ms: sum(some, ({ took_ms }) => took_ms),
          own_ms: 20 * some.length,
        });
      }
    }
    const one = { ...range, period: 'hour', by: [], account_id: 'acc_2', status: 5 } as const;
    const failures = records.filter(({ account_id, code }) => account_id === 'acc_2' && code);
    expect((await store.requests.totals(one))[0]?.calls).to.equal(failures.length);
    const days = { from_ms: ground.now_ms - DAY_MS, to_ms: ground.now_ms + DAY_MS } as const;
    const byDay = await store.requests.totals({ ...days, period: 'day', by: ['account_id'] });
    const [ofDays] = await store.requests.totals({ ...days, period: 'day', by: [], model: 'dear' });
    expect(ofDays?.calls).to.equal(80);
    const daysOf = async (query: Partial<TotalsQuery>): Promise<unknown[]> => {
      const rows = await store.requests.totals({ ...days, period: 'day', by: [], ...query });
      return rows.map(({ key_id, model, calls }) => [key_id ?? model, calls]);
    };
    expect(await daysOf({ account_id: 'acc_2', by: ['model'] })).to.deep.equal([
      ['cheap', 80],
      ['dear', 20],
    ]);
    expect(await daysOf({ by: ['key_id'] })).to.deep.equal([
      ['key_1', 200],
      ['key_2', 200],
    ]);
    expect(await daysOf({ account_id: 'acc_1', key_id: 'key_2' })).to.deep.equal([
      [undefined, 100],
    ]);
    // The hours of some days, for which the days are read.
    const hours = { from_ms: days.from_ms - 5 * HOUR_MS, to_ms: ground.now_ms + 1 };
    for (const split of ['account_id', 'key_id'] as const) {
      const byHour = await store.requests.totals({ ...hours, period: 'hour', by: [split] });
      expect(byHour).to.deep.equal(
        await store.requests.totals({ ...days, period: 'day', by: [split] }),
      );
    }
    expect(byDay.map(({ account_id, calls }) => [account_id, calls])).to.deep.equal([
      ['acc_1', 300],
      ['acc_2', 100],
    ]);
  });

  it('are the same whether days or their hours are read', async () => {
    const store = await ground.open();
    const { id: account_id } = await store.createAccount('ann', 0n);
    const { key } = await store.createKey(account_id, 'laptop');
    const records = Array.from({ length: 500 }, (_, at) =>
      recordAt(ground.now_ms - ((at * 7) % 100) * HOUR_MS, {
        account_id: at % 3 === 0 ? 'acc_2' : account_id,
        key_id: at % 3 !== 0 && at % 2 === 0 ? key.id : 'key_2',
        model: at % 5 === 0 ? 'dear' : 'cheap',
        provider: at % 8 === 0 ? 'lab' : 'openai',
        status: at % 10 === 3 ? 502 : 200,
        code: at % 10 === 3 ? 'upstream_error' : null,
        agent: at % 4 === 0 ? 'codex' : 'curl',
        cost_nano: BigInt(at),
      }),
    );
    await store.requests.add(records);
    await rollUp(ground, store);
    const first_ms = ground.now_ms - (ground.now_ms % HOUR_MS) - 90 * HOUR_MS;
    const end_ms = first_ms + 85 * HOUR_MS;
    const range = { from_ms: first_ms + 1, to_ms: end_ms };
    const filters: Partial<TotalsQuery>[] = [
      {},
      { account_id },
      { account_id, model: 'dear' },
      { account_id, status: 5 },
      { account_id, provider: 'lab' },
      { key_id: key.id },
      { key_id: key.id, model: 'dear' },
      { provider: 'lab', model: 'cheap' },
      { agent: 'codex' },
      { account_id, agent: 'codex', model: 'dear' },
      { key_id: key.id, agent: 'curl' },
    ];
    for (const filter of filters) {
      const { status, ...same } = filter;
      const wanted = records.filter(
        (record) =>
          record.time_ms >= first_ms &&
          record.time_ms < end_ms &&
          (status === undefined || record.status >= 500) &&
          Object.entries(same).every(([name, value]) => record[name as 'model'] === value),
      );
      const query = { ...range, ...filter, period: 'hour' } as const;
      for (const by of [[], ['model'], ['status']] as const) {
        const rows = await store.requests.totals({ ...query, by });
        expect(sum(rows, ({ calls }) => calls)).to.equal(wanted.length);
        expect(sum(rows, ({ cost_nano }) => Number(cost_nano))).to.equal(
          sum(wanted, ({ cost_nano }) => Number(cost_nano)),
        );
      }
    }
    const some = { ...range, period: 'hour', by: ['account_id'] } as const;
    const every = await store.requests.totals(some);
    const few = await store.requests.totals({ ...some, figures: ['cost_nano'] });
    expect(few.map(({ account_id: id, calls, cost_nano }) => [id, calls, cost_nano])).to.deep.equal(
      every.map(({ account_id: id, calls, cost_nano }) => [id, calls, cost_nano]),
    );
    expect(few.map(({ failed, uncollected_nano }) => [failed, uncollected_nano])).to.deep.equal([
      [0, 0n],
      [0, 0n],
    ]);
    const whole = { ...range, account_id, period: 'hour', by: ['start_ms', 'model'] } as const;
    expect((await store.requests.totals(whole)).length).to.be.greaterThan(80);
  });

  it('tell how many rows the hours of an account have, up to a limit', async () => {
    const store = await ground.open();
    await store.requests.add(recordsOf(ground.now_ms));
    await rollUp(ground, store);
    const { requests } = store;
    const hours = { from_ms: ground.now_ms - DAY_MS, to_ms: ground.now_ms + 1 };
    const split = ['start_ms', 'key_id', 'model', 'provider', 'status', 'agent'] as const;
    for (const only of [{}, { key_id: 'key_1' }, { model: 'dear' }, { model: 'none' }]) {
      const query = { ...hours, ...only, account_id: 'acc_1' };
      const rows = await requests.totals({ ...query, period: 'hour', by: split });
      expect(await requests.hourRows(query, 1_000)).to.equal(rows.length);
      expect(await requests.hourRows(query, 3)).to.equal(Math.min(rows.length, 3));
    }
    expect(await requests.hourRows({ ...hours, account_id: '\0' }, 9)).to.equal(0);
  });

  it('count each record once where several processes add at once', async () => {
    const stores = [await ground.open(), await ground.open(), await ground.open()];
    const records = stores.map(() => recordsOf(ground.now_ms));
    await Promise.all(
      stores.map(async (store, at) => {
        for (const [number, record] of (records[at] ?? []).entries()) {
          if (number % 20 === 0) await store.requests.rollUp();
          await store.requests.add([record]);
        }
      }),
    );
    await rollUp(ground, ...stores);
    const [store] = stores;
    const range = { from_ms: ground.now_ms - 2 * HOUR_MS, to_ms: ground.now_ms + HOUR_MS };
    const [all] = (await store?.requests.totals({ ...range, period: 'hour', by: [] })) ?? [];
    expect(all?.calls).to.equal(1_200);
  });

  it('know the percentiles of answered calls within a tenth', async () => {
    const store = await ground.open();
    const records = Array.from({ length: 1_000 }, (_, at) =>
      recordAt(ground.now_ms, { took_ms: at + 1, first_token_ms: (at + 1) / 4 }),
    );
    const failed = { took_ms: 900_000, status: 502, code: 'upstream_error' };
    await store.requests.add([...records, recordAt(ground.now_ms, failed)]);
    await rollUp(ground, store);
    const range = { from_ms: ground.now_ms, to_ms: ground.now_ms + 1 };
    const [row] = await store.requests.latencies({ ...range, by: ['model'] });
    expect(row?.model).to.equal('gpt-4o-mini');
    for (const [kind, scale] of [
      ['took', 1],
      ['first_token', 0.25],
    ] as const) {
      const { calls, p50_ms, p95_ms, p99_ms } = row?.[kind] ?? { calls: 0 };
      expect(calls).to.equal(1_000);
      expect(p50_ms).to.be.closeTo(500 * scale, 50 * scale);
      expect(p95_ms).to.be.closeTo(950 * scale, 95 * scale);
      expect(p99_ms).to.be.closeTo(990 * scale, 99 * scale);
    }
    const days = await store.requests.latencies({ ...range, period: 'day', by: ['model'] });
    expect(days).to.deep.equal([row]);
    const long = { from_ms: ground.now_ms - 3 * DAY_MS, to_ms: ground.now_ms + 3 * DAY_MS };
    expect(await store.requests.latencies({ ...long, by: ['model'] })).to.deep.equal([row]);
    const own = await store.requests.latencies({ ...range, by: [], account_id: 'acc_1' });
    expect(own[0]?.took).to.deep.equal(row?.took);
    expect(await store.requests.latencies({ ...range, by: [], account_id: 'acc_9' })).to.deep.equal(
      [],
    );
  });

  it('know the percentiles of a day, of all its hours together', async () => {
    const store = await ground.open();
    const day_ms = ground.now_ms - (ground.now_ms % DAY_MS);
    const took = [1_000, 10, 100, 10_000];
    const records = took.map((took_ms, at) => recordAt(day_ms + at * HOUR_MS, { took_ms }));
    await store.requests.add([...records, recordAt(day_ms + DAY_MS, { took_ms: 5 })]);
    await rollUp(ground, store);
    const range = { from_ms: day_ms, to_ms: day_ms + 2 * DAY_MS };
    const rows = await store.requests.latencies({ ...range, by: ['start_ms'], period: 'day' });
    expect(rows.map(({ start_ms }) => start_ms)).to.deep.equal([day_ms, day_ms + DAY_MS]);
    expect(rows.map(({ took: all }) => all?.calls)).to.deep.equal([4, 1]);
    expect(rows[0]?.took?.p50_ms).to.be.closeTo(100, 20);
    expect(rows[0]?.took?.p99_ms).to.be.closeTo(10_000, 2_000);
  });

  it('stay at the end of 64 bits where amounts would pass it', async () => {
    const store = await ground.open();
    const dear = { cost_nano: 2n ** 62n, uncollected_nano: 2n ** 62n, saved_nano: -(2n ** 62n) };
    const records = Array.from({ length: 4 }, () => recordAt(ground.now_ms, dear));
    await store.requests.add(records);
    await rollUp(ground, store);
    const query = { from_ms: ground.now_ms, to_ms: ground.now_ms + 1, by: [] } as const;
    const sumOf = async (): Promise<(bigint | undefined)[]> => {
      const [row] = await store.requests.totals({ ...query, period: 'hour' });
      return [row?.cost_nano, row?.uncollected_nano, row?.saved_nano];
    };
    const most_nano = dollars(1_000_000);
    expect(await sumOf()).to.deep.equal([4n * most_nano, 4n * most_nano, -4n * most_nano]);
    const close = 2n ** 63n - 2n * most_nano;
    await ground.place.sql(
      `update request_totals set cost_nano = ${close}, saved_nano = -${close}`,
    );
    await store.requests.add(Array.from({ length: 4 }, () => recordAt(ground.now_ms, dear)));
    await rollUp(ground, store);
    expect(await sumOf()).to.deep.equal([2n ** 63n - 1n, 8n * most_nano, 1n - 2n ** 63n]);
  });

  it('refuse a range of more periods than one statement takes', async () => {
    const store = await ground.open();
    const query = { from_ms: 0, to_ms: 32 * DAY_MS, by: [] };
    const said = await refusal(store.requests.totals({ ...query, period: 'hour' }));
    expect(said).to.equal('StoreError: Totals by the hour are for 744 at most.');
    const each = { ...query, to_ms: 3 * DAY_MS, period: 'hour', by: ['key_id', 'model'] } as const;
    expect(await refusal(store.requests.totals(each))).to.match(/each account by the hour/u);
    const day = { ...query, period: 'day' as const, account_id: 'acc_1', provider: 'openai' };
    expect(await refusal(store.requests.totals(day))).to.match(
      /split by model or by key of an account/u,
    );
    const split = { from_ms: 0, to_ms: 1, by: ['model'] as const, account_id: 'acc_1' };
    expect(await refusal(store.requests.latencies(split))).to.match(/model or provider/u);
  });
});
