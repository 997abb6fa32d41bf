import { expect } from 'chai';
import { paceOf, usageReport } from '../../../src/dashboard/views/usage-report.js';
import { onEachStore, type Ground } from '../../store/helpers/ground.js';
import { recordAt, rollUp } from '../../store/requests/helpers.js';

const DAY_MS = 86_400_000;
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

  it('compares with as long before as the range has lasted', async () => {
    const { account, services } = await openWith([40n, 30n, 20n, 10n, 1n]);
    const ask = { account_id: account.id, from: '2026-11-19', to: '2026-11-20' };
    const report = await usageReport({ ...ask, is_detailed: false }, services);
    expect(report).to.include({ period: 'hour', is_cut: false });
    expect(report.totals.cost_nano).to.equal(70n);
    // A day and a half: from noon of the 17th.
    expect(report.before.totals.cost_nano).to.equal(20n);
    expect(report.latency?.took?.calls).to.equal(2);
  });

  it('cuts a long range where it is to tell details, and not otherwise', async () => {
    const { account, services } = await openWith([40n, 30n]);
    const ask = { account_id: account.id, from: '2026-01-01', to: '2026-11-20' };
    const whole = await usageReport({ ...ask, is_detailed: false }, services);
    expect(whole).to.include({ period: 'day', is_cut: false });
    expect(whole.range.from).to.equal('2026-01-01');
    expect(whole.rows.map(({ model }) => model)).to.deep.equal([undefined, undefined]);
    const cut = await usageReport({ ...ask, is_detailed: true }, services);
    expect(cut.is_cut).to.equal(true);
    expect(cut.range.from).to.equal('2026-10-21');
    expect(cut.totals.cost_nano).to.equal(70n);
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
