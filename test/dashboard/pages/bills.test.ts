import { expect } from 'chai';
import { describeInBrowser, visit } from '../../helpers/browser.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import type { Reconciliation } from '../../../src/reconcile/report.js';

const SIDE = { calls: null, tokens: { input: 1_200, output: 300 }, cost: '2.50' };
const COMPARED = {
  bill: SIDE,
  ledger: { ...SIDE, cost: '2.00' },
  difference: '0.50',
  percent: 20,
  within: false,
};
const REPORT: Reconciliation = {
  ...COMPARED,
  made: '2026-11-02T08:00:00.000Z',
  files: ['costs.json'],
  formats: ['some-costs'],
  providers: ['up'],
  first_day: '2026-10-01',
  last_day: '2026-10-31',
  tolerance_percent: 1,
  models: [
    {
      ...COMPARED,
      model: 'large-2',
      names: ['large-2-2026-01-01'],
      causes: [
        {
          cause: 'stale_price',
          difference: '0.50',
          first_day: '2026-10-16',
          last_day: '2026-10-31',
          days: 16,
          text: 'a stale price: <output> costs more',
        },
      ],
      days: [{ ...COMPARED, day: '2026-10-16' }],
    },
  ],
  unmatched: [{ name: 'web search', calls: null, tokens: 0, cost: '0.10', several: [] }],
};

describeInBrowser('the page of bills', (browser) => {
  let dashboard: TestDashboard;

  before(async () => {
    dashboard = await startDashboard();
  });
  after(() => dashboard.close());

  it('says how to compare one, and shows the last comparison of a provider', async () => {
    const session = await dashboard.signIn(dashboard.account.id, true);
    const { page, faults } = await visit(browser(), dashboard.url, { session });
    await page.goto('/operator/bills');
    expect(await page.textContent('main')).to.include('tollgate reconcile FILE');

    const { reconciliations } = dashboard.gateway.store;
    await reconciliations.keep(['up'], JSON.stringify({ ...REPORT, within: true }));
    await reconciliations.keep(['up'], JSON.stringify(REPORT));
    await page.reload();
    const text = await page.textContent('main');
    expect(text).to.include('beyond 1 %').and.not.include('within 1 %');
    expect(text).to.include('large-2-2026-01-01').and.include('a stale price: <output> costs more');
    expect(text).to.include('web search');
    const row = page.getByRole('region', { name: 'Models of up' }).getByRole('row').last();
    expect(await row.textContent())
      .to.include('$2.50')
      .and.include('20 %');
    await page.getByText('Days that differ').click();
    expect(await page.getByRole('region', { name: 'Days that differ' }).textContent()).to.include(
      '2026-10-16',
    );
    expect(faults).to.deep.equal([]);
  });

  it('is for operators alone', async () => {
    const session = await dashboard.signIn(dashboard.account.id);
    const answer = await fetch(`${dashboard.url}/operator/bills`, {
      redirect: 'manual',
      headers: { cookie: `session=${session}` },
    });
    expect(answer.status).to.equal(403);
  });
});
