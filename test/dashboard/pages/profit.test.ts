import { expect } from 'chai';
import { describeInBrowser, visit } from '../../helpers/browser.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import { recordAt } from '../../store/requests/helpers.js';

describeInBrowser('the page of profit', (browser) => {
  let dashboard: TestDashboard;

  before(async () => {
    dashboard = await startDashboard();
  });
  after(() => dashboard.close());

  it('shows what each day, model, provider and account brought, to operators alone', async () => {
    const { account, gateway, url } = dashboard;
    const { requests } = gateway.store;
    const at_ms = Date.now();
    const mine = { account_id: account.id, provider: 'lab' };
    const sold = { ...mine, model: 'sold', cost_nano: 1_000_000_000n };
    await requests.add([
      recordAt(at_ms, { ...sold, upstream_cost_nano: 750_000_000n }),
      recordAt(at_ms, { ...mine, model: 'lost', cost_nano: 0n, upstream_cost_nano: 50_000_000n }),
      recordAt(at_ms, { ...mine, model: 'old', cost_nano: 3_000_000_000n }),
    ]);
    while (await requests.rollUp());
    const session = await dashboard.signIn(account.id, true);
    const { page, faults } = await visit(browser(), url, { session });
    await page.goto('/operator/profit');
    const text = (await page.textContent('main')) ?? '';
    for (const part of ['Upstreams took', '$0.80', '$0.20', '20 %', '$3.00', account.name]) {
      expect(text).to.include(part);
    }
    const rows = page.locator('[aria-label="By model"] tr');
    const shown = (await rows.allTextContents()).join('\n');
    expect(shown).to.match(/sold.*\$0\.75.*\$0\.25/u);
    expect(shown).to.match(/lost.*0\.05/u);
    expect(shown).to.match(/old.*unknown.*unknown/u);
    expect(faults).to.deep.equal([]);

    const headers = { cookie: `session=${session}` };
    const answer = await fetch(`${url}/api/profit?by=model`, { headers });
    expect(await answer.json()).to.deep.include({
      by: 'model',
      totals: {
        calls: 3,
        cost: '4.00',
        uncollected: '0.00',
        upstream_cost: '0.80',
        profit: '0.20',
        cost_unknown: '3.00',
      },
    });
    const csv = await (await fetch(`${url}/api/profit?by=model&format=csv`, { headers })).text();
    expect(csv.split('\r\n').slice(0, 4)).to.deep.equal([
      'model,calls,cost,uncollected,upstream_cost,profit,cost_unknown',
      'sold,1,1.00,0.00,0.75,0.25,0.00',
      'old,1,3.00,0.00,,,3.00',
      'lost,1,0.00,0.00,0.05,-0.05,0.00',
    ]);
    const plain = await dashboard.signIn(account.id, false);
    for (const path of ['/operator/profit', '/api/profit']) {
      const refused = await fetch(url + path, { headers: { cookie: `session=${plain}` } });
      expect(refused.status).to.be.oneOf([401, 403, 404]);
    }
  });

  it('shows the first hundred of a long table, and the rest as CSV', async () => {
    const { account, gateway, url } = dashboard;
    const { requests } = gateway.store;
    const at_ms = Date.now();
    const models = Array.from({ length: 101 }, (_, at) => `model-${at}`);
    await requests.add(models.map((model) => recordAt(at_ms, { account_id: account.id, model })));
    while (await requests.rollUp());
    const session = await dashboard.signIn(account.id, true);
    const { page } = await visit(browser(), url, { session });
    await page.goto('/operator/profit');
    expect(await page.locator('[aria-label="By model"] tbody tr').count()).to.equal(100);
    const card = page.locator('section', { has: page.locator('[aria-label="By model"]') });
    expect(await card.textContent()).to.match(/The first 100 of 10\d\./u);
    const href = (await card.getByText('Download CSV').getAttribute('href')) ?? '';
    const csv = await (
      await fetch(url + href, { headers: { cookie: `session=${session}` } })
    ).text();
    for (const model of models) expect(csv).to.include(model);
  });
});
