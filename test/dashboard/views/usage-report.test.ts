import { expect } from 'chai';
import { paceOf, usageReport } from '../../../src/dashboard/views/usage-report.js';
import { FIGURE_NAMES } from '../../../src/store/requests/request-totals-sql.js';
import { onEachStore, type Ground } from '../../store/helpers/ground.js';
import { recordAt, rollUp } from '../../store/requests/helpers.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = Date.parse('2026-11-20T12:00:00Z');

onEachStore('the report of usage', (ground: Ground) => {
  async function openWith(perDay: readonly bigint[]) {
    ground.now_ms = NOW_MS;
    const store = await ground.open();
    const account = await store.createAccount('ada', 1_000n);
    const records = perDay.map((cost_nano, days) =>
      recordAt(NOW_MS - days * DAY_MS - 1, { account_id: account.id, cost_nano }),
    );
    await store.requests.add(records);
    await rollUp(ground, store);
    return { account, services: { store, now: () => NOW_MS } };
  }

  const charted = ['cost_nano'] as const;

  it('compares with as long before as the range has lasted', async () => {
    const { account, services } = await openWith([40n, 30n, 20n, 10n, 1n]);
    const ask = { account_id: account.id, from: '2026-11-19', to: '2026-11-20' };
    const report = await usageReport({ ...ask, by: 'day' }, services);
    expect(report).to.include({ period: 'hour', source: 'hour', is_cut: false });
    expect(report.totals.cost_nano).to.equal(70n);
    // A day and a half: from noon of the 17th.
    expect(report.before.totals.cost_nano).to.equal(20n);
    expect(report.latency?.took?.calls).to.equal(2);
  });

  it('compares days with hours before them, as the last day is not over', async () => {
    const { account, services } = await openWith([40n, 30n, 20n, 10n, 1n, 2n, 3n, 4n]);
    const ask = { account_id: account.id, from: '2026-11-17', to: '2026-11-20' };
    const report = await usageReport({ ...ask, by: 'day', charted }, services);
    expect(report).to.include({ period: 'day', source: 'day', is_cut: false });
    expect(report.rows).to.have.length(4);
    expect(report.bars.map(({ model }) => model)).to.deep.equal(Array(4).fill('gpt-4o-mini'));
    expect(report.totals.cost_nano).to.equal(100n);
    // Three days and a half: from noon of the 13th.
    expect(report.before.totals.cost_nano).to.equal(6n);
  });

  it('tells models or keys of a year by its days', async () => {
    const { account, services } = await openWith([40n, 30n]);
    const ask = { account_id: account.id, from: '2026-01-01', to: '2026-11-20' };
    const model = 'gpt-4o-mini';
    for (const asked of [{ by: 'day' }, { by: 'model' }, { by: 'key' }, { by: 'day', model }]) {
      const query = { ...ask, ...(asked as { by: 'day' }), charted };
      const report = await usageReport(query, services);
      expect(report).to.include({ period: 'day', source: 'day', is_cut: false });
      expect(report.range.from).to.equal('2026-01-01');
      expect(report.rows).to.have.length(asked.by === 'day' ? 2 : 1);
      expect(report.bars.map((row) => row.model)).to.deep.equal([model, model]);
      expect(report.latency?.took?.calls).to.equal(2);
    }
    const ofKey = await usageReport({ ...ask, by: 'day', key_id: 'key_1', charted }, services);
    expect(ofKey).to.include({ source: 'day', is_cut: false });
    expect(ofKey.bars.map((row) => row.model)).to.deep.equal([undefined, undefined]);
    expect(ofKey.totals.cost_nano).to.equal(70n);
  });

  it('adds hours up to days where a bar is a day, and has no bars without a chart', async () => {
    const { account, services } = await openWith([40n, 30n, 20n, 10n]);
    const ask = { account_id: account.id, from: '2026-11-17', to: '2026-11-20' };
    const model = { by: 'model' as const, key_id: 'key_1' };
    const report = await usageReport({ ...ask, ...model, charted }, services);
    expect(report).to.include({ period: 'day', source: 'hour', is_cut: false });
    expect(report.rows.map((row) => [row.model, row.cost_nano])).to.deep.equal([
      ['gpt-4o-mini', 100n],
    ]);
    const days = [3, 2, 1, 0].map((back) => NOW_MS - (NOW_MS % DAY_MS) - back * DAY_MS);
    expect(report.bars.map((row) => row.start_ms)).to.deep.equal(days);
    expect(report.bars.map((row) => row.cost_nano)).to.deep.equal([10n, 20n, 30n, 40n]);
    expect((await usageReport({ ...ask, ...model }, services)).bars).to.deep.equal([]);
  });

  it('cuts a long range where it is to tell models of a key', async () => {
    const { account, services } = await openWith([40n, 30n]);
    const ask = { account_id: account.id, from: '2026-01-01', to: '2026-11-20' } as const;
    const [model, key_id] = ['gpt-4o-mini', 'key_1'];
    const asks = [
      { by: 'model', key_id },
      { by: 'day', key_id, model },
      { by: 'key', model },
    ] as const;
    for (const asked of asks) {
      const cut = await usageReport({ ...ask, ...asked }, services);
      expect(cut).to.include({ source: 'hour', is_cut: true });
      expect(cut.range.from).to.equal('2026-10-21');
      expect(cut.totals.cost_nano).to.equal(70n);
    }
  });

  it('shows two days by the day where their hours have too many rows', async () => {
    const { account, services } = await openWith([40n, 30n]);
    const columns = ['period', 'start_ms', 'account_id', 'key_id', 'provider', 'status'];
    const names = [...columns, ...FIGURE_NAMES, 'first_id', 'last_id'].join(', ');
    // As if as many models had been called in the present hour.
    await ground.place.sql(`insert into request_totals (model, ${names})
      with recursive others (at) as (select 1 union all select at + 1 from others where at < 20000)
      select 'other_' || at, ${names} from request_totals, others
      where period = 'hour' and account_id = '${account.id}' and start_ms >= ${NOW_MS - HOUR_MS}`);
    const ask = { account_id: account.id, from: '2026-11-19', to: '2026-11-20' };
    const report = await usageReport({ ...ask, by: 'day' }, services);
    expect(report).to.include({ period: 'day', source: 'day', is_cut: false });
    expect(report.totals.cost_nano).to.equal(70n);
    const before = await usageReport({ ...ask, to: '2026-11-19', by: 'day' }, services);
    expect(before).to.include({ period: 'hour', source: 'hour', is_cut: false });
    const model = 'gpt-4o-mini';
    const ofKey = await usageReport({ ...ask, by: 'model', key_id: 'key_1' }, services);
    expect(ofKey).to.include({ period: 'hour', source: 'hour', is_cut: true });
    expect(ofKey.range.from).to.equal('2026-11-20');
    for (const one of [{ by: 'key' as const }, { by: 'day' as const, key_id: 'key_1' }]) {
      const ofModel = await usageReport({ ...ask, ...one, model }, services);
      expect(ofModel).to.include({ period: 'hour', source: 'hour', is_cut: false });
      expect(ofModel.totals.cost_nano).to.equal(70n);
    }
  });

  it('tells how many days the credit lasts at the pace of the last week', async () => {
    const { account, services } = await openWith([100n, 0n, 50n]);
    // 150 since midnight of the 18th, which is two and a half days.
    expect(await paceOf(account, services)).to.deep.equal({ daily_nano: 60n, days: 16 });
    const idle = await openIdle();
    expect(await paceOf(idle, services)).to.deep.equal({ daily_nano: 0n, days: undefined });

    function openIdle() {
      return services.store.createAccount('idle', 5n);
    }
  });
});
