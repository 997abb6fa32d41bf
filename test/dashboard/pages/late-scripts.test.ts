import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { describeInBrowser, visit } from '../../helpers/browser.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import { until } from '../../helpers/until.js';
import { WIDTHS } from '../../helpers/looks.js';

const PATHS = [
  '/',
  '/usage',
  '/models',
  '/models/gpt-4o-mini',
  '/agents',
  '/playground',
  '/settings/keys',
  '/operator/accounts/ACCOUNT',
];

/** Notes where each element of the page stands. */
const NOTE = `noted = [...document.querySelectorAll('main *')]
  .filter((one) => one.checkVisibility())
  .map((one) => [one, one.getBoundingClientRect().top])`;

/** The elements that stand elsewhere now. */
const MOVED = `noted
  .filter(([one]) => one.isConnected && one.checkVisibility())
  .filter(([one, top]) => Math.abs(one.getBoundingClientRect().top - top) > 1)
  .map(([one]) => one.tagName + ' ' + one.textContent.slice(0, 40))`;

const IS_STYLED = `document.readyState === 'interactive' &&
  [...document.querySelectorAll('link[rel=stylesheet]')].every(({ sheet }) => sheet)`;

describeInBrowser('a page whose scripts come late', (browser) => {
  let dashboard: TestDashboard;
  let session: string;
  before(async () => {
    dashboard = await startDashboard();
    session = await dashboard.signIn(dashboard.account.id, true);
  });
  after(() => dashboard.close());

  /** The elements that its scripts move. */
  async function movedAt(page: Page, path: string): Promise<string[]> {
    let release = (): void => undefined;
    const later = new Promise<void>((resolve) => (release = resolve));
    await page.route(/\.js$/u, async (route) => {
      await later;
      await route.continue();
    });
    await page.goto(path, { waitUntil: 'commit' });
    await until(() => page.evaluate<boolean>(IS_STYLED), 'the page is styled');
    await page.evaluate(NOTE);
    release();
    await page.waitForLoadState();
    const moved = await page.evaluate<string[]>(MOVED);
    await page.unroute(/\.js$/u);
    return moved;
  }

  for (const width of WIDTHS) {
    it(`does not jump when they have run, at ${width} px`, async () => {
      const { page } = await visit(browser(), dashboard.url, { session, width });
      for (const path of PATHS) {
        const named = path.replace('ACCOUNT', dashboard.account.id);
        expect(await movedAt(page, named), path).to.deep.equal([]);
      }
    }).timeout(240_000);
  }
});
