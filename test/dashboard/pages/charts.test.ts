import { expect } from 'chai';
import { describeInBrowser, visit } from '../../helpers/browser.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import { seedMonth } from '../../helpers/seed-month.js';

const MAX_PIXELS = 48;
const SHARE = 0.68;

describeInBrowser('the chart by day', (browser) => {
  const clock = { now_ms: Date.parse('2026-11-20T15:42:00Z') };
  let dashboard: TestDashboard;

  before(async () => {
    dashboard = await startDashboard({ now: () => clock.now_ms, credit: '100' });
    const { gateway, account, key_id } = dashboard;
    await seedMonth(gateway.store, clock, account.id, [key_id]);
  });
  after(() => dashboard.close());

  for (const from of ['2026-11-18', '2026-10-22']) {
    it(`has bars of a share of each day since ${from}, in its middle, 48 pixels at most`, async () => {
      const session = await dashboard.signIn(dashboard.account.id);
      const { page } = await visit(browser(), dashboard.url, { session });
      await page.goto(`/usage?from=${from}&to=2026-11-20`);
      const day = page.locator('.plot g').last();
      const [slot, bar] = await Promise.all([
        day.locator('.day').boundingBox(),
        day.locator('.piece').first().boundingBox(),
      ]);
      if (!slot || !bar) throw new Error('There is no bar.');
      expect(bar.width).to.be.closeTo(Math.min(MAX_PIXELS, SHARE * slot.width), 2);
      expect(bar.x + bar.width / 2).to.be.closeTo(slot.x + slot.width / 2, 1);
    });
  }
});
