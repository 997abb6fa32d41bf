import { expect } from 'chai';
import type { RequestRecord } from '../../../src/core/request-record.js';
import { describeInBrowser, follow, visit } from '../../helpers/browser.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import { failureAt, seedMonth } from '../../helpers/seed-month.js';
import { recordAt } from '../../store/requests/helpers.js';

describeInBrowser('the live page of operators', (browser) => {
  const clock = { now_ms: Date.parse('2026-11-20T15:42:00Z') };
  let dashboard: TestDashboard;

  beforeEach(async () => {
    dashboard = await startDashboard({ now: () => clock.now_ms, credit: '100' });
  });
  afterEach(() => dashboard.close());

  const operator = async () => {
    const session = await dashboard.signIn(dashboard.account.id, true);
    return visit(browser(), dashboard.url, { session });
  };

  async function add(count: number): Promise<void> {
    const { gateway, account, key_id } = dashboard;
    const { requests } = gateway.store;
    const call = { account_id: account.id, key_id, provider: 'simulator', model: 'gpt-4o-mini' };
    const records = Array.from({ length: count }, () => recordAt(clock.now_ms - 60_000, call));
    await requests.add([...records, ...records.slice(0, 1).map(failureAt)]);
    while (await requests.rollUp());
  }

  it('keeps itself up to date, without a reload', async () => {
    await add(99);
    const { page, faults } = await operator();
    await page.goto('/operator?over=hour');
    expect(await page.textContent('.figures')).to.include('100 calls since 20 Nov, 14:00 UTC');
    expect(await page.textContent('.figures')).to.include('1.0 %');
    await page.evaluate('window.isSame = true');
    await add(24);
    await page.getByText('125 calls since').waitFor();
    expect(await page.evaluate('window.isSame')).to.equal(true);
    expect(faults).to.deep.equal([]);
  });

  it('shows the range that was chosen, its top accounts and its worst upstreams', async () => {
    const { gateway, account, key_id } = dashboard;
    await seedMonth(gateway.store, clock, account.id, [key_id, key_id]);
    const { page } = await operator();
    await page.goto('/operator');
    for (const name of ['Hour', 'Week', 'Month', 'Day']) {
      await follow(page.getByRole('link', { name, exact: true }));
      const chosen = page.locator('.segments [aria-current]');
      expect(await chosen.textContent()).to.equal(name);
    }
    const accounts = page.getByRole('region', { name: 'Top accounts' });
    expect(await accounts.textContent()).to.include('tester');
    const worst = page.getByRole('region', { name: 'Worst upstreams' });
    await follow(worst.getByRole('link').first());
    expect(new URL(page.url()).searchParams.get('status')).to.equal('failed');
    expect(await page.locator('tbody tr').count()).to.be.at.least(1);
  });

  it('does not count a 400 that the client caused against its upstream', async () => {
    const { gateway, account, key_id } = dashboard;
    const { requests } = gateway.store;
    const call = { account_id: account.id, key_id, model: 'gpt-4o-mini' };
    const at_ms = clock.now_ms - 60_000;
    const refusal = { ...call, provider: 'picky', status: 400, code: 'invalid_request' };
    const mixed = [{}, { status: 400, code: 'content_policy_violation' }].map((ending) =>
      recordAt(at_ms, { ...call, provider: 'mixed', ...ending }),
    );
    await requests.add([recordAt(at_ms, refusal), ...mixed, failureAt(mixed[0] as RequestRecord)]);
    while (await requests.rollUp());
    const { page } = await operator();
    await page.goto('/operator?over=hour');
    const worst = await page.getByRole('region', { name: 'Worst upstreams' }).textContent();
    expect(worst).to.include('mixed').and.to.include('33 %').and.not.to.include('picky');
    await page.goto('/operator/providers');
    const rows = page.getByRole('region', { name: 'Upstreams' }).getByRole('row');
    expect(await rows.filter({ hasText: 'mixed' }).textContent()).to.include('33 %');
    expect(await rows.filter({ hasText: 'picky' }).textContent()).to.include('none');
  });

  it('says that an edited configuration was not taken up', async () => {
    dashboard.gateway.refuseReload('models.a: there is no provider "b"');
    const { page } = await operator();
    await page.goto('/operator');
    expect(await page.textContent('[role=alert]')).to.include('there is no provider "b"');
    await page.goto('/operator/providers');
    expect(await page.getByRole('region', { name: 'Upstreams' }).textContent()).to.include(
      'claude-sonnet-4-5',
    );
  });
});
