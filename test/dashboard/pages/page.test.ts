import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import {
  describeInBrowser,
  expectAccessible,
  expectNoSidewaysScroll,
  visit,
} from '../../helpers/browser.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import { seedMonth } from '../../helpers/seed-month.js';

const PATHS = [
  '/',
  '/usage',
  '/usage?by=model&from=2026-11-01&to=2026-11-20',
  '/usage?model=none',
  '/models',
  '/agents',
  '/playground',
  '/settings',
  '/settings/keys',
  '/settings/keys/new',
  '/settings/keys/KEY/revoke',
  '/operator/accounts',
  '/operator/accounts/ACCOUNT',
  '/operator/tasks',
  '/operator/providers',
  '/operator/configuration',
  '/operator/accounts/nobody',
];
const STRANGERS_PATHS = ['/sign-in', '/sign-in?return_to=%2Fusage'];
const LOOKS = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'light', width: 390 },
  { colorScheme: 'dark', width: 390 },
] as const;

describeInBrowser('every page', (browser) => {
  // Looking at everything takes its time on a machine that has other things to do.
  const PATIENCE_MS = 240_000;
  const clock = { now_ms: Date.parse('2026-11-20T15:42:00Z') };
  let dashboard: TestDashboard;

  before(async () => {
    dashboard = await startDashboard({ now: () => clock.now_ms, credit: '100' });
    const { gateway, account, key_id } = dashboard;
    const { key } = await gateway.store.createKey(account.id, 'Second', {
      limit_nano: 10n ** 9n,
      models: ['gpt-4o-mini'],
      expires_ms: clock.now_ms + 86_400_000,
    });
    const { key: revoked } = await gateway.store.createKey(account.id, 'Third');
    await gateway.store.revokeKey(revoked.id);
    await seedMonth(gateway.store, clock, account.id, [key_id, key.id]);
  });
  after(() => dashboard.close());

  for (const look of LOOKS) {
    const name = `${look.colorScheme} at ${look.width} pixels`;

    it(`can be used by all, ${name}, for an operator with a month of calls`, async () => {
      const { account, key_id, signIn } = dashboard;
      const session = await signIn(account.id, true);
      const paths = PATHS.map((path) => path.replace('KEY', key_id).replace('ACCOUNT', account.id));
      await tour(browser(), paths, { ...look, session });
    }).timeout(PATIENCE_MS);

    it(`can be used by all, ${name}, for a newcomer and a stranger`, async () => {
      const { gateway, signIn } = dashboard;
      const newcomer = await gateway.store.createAccount(`new-${name}`, 0n);
      const session = await signIn(newcomer.id);
      await tour(browser(), ['/', '/usage', '/settings/keys'], { ...look, session });
      await tour(browser(), STRANGERS_PATHS, look);
    }).timeout(PATIENCE_MS);
  }

  async function tour(
    one: Browser,
    paths: readonly string[],
    look: Parameters<typeof visit>[2],
  ): Promise<void> {
    const { context, page, faults } = await visit(one, dashboard.url, look);
    for (const path of paths) {
      const answer = await page.goto(path);
      expect(answer?.status(), path).to.equal(path.endsWith('nobody') ? 404 : 200);
      expect(await page.locator('main h1').count(), path).to.equal(1);
      await expectNoSidewaysScroll(page);
      await expectAccessible(page);
      expect(faults, path).to.deep.equal([]);
    }
    await context.close();
  }

  it('begins with a link that skips to its content', async () => {
    const { account, signIn } = dashboard;
    const session = await signIn(account.id);
    const { page } = await visit(browser(), dashboard.url, { session });
    await page.goto('/usage');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).to.equal('main');
  });

  it('leads a stranger to the sign-in page, and knows the way back', async () => {
    const { page } = await visit(browser(), dashboard.url);
    await page.goto('/usage?by=key');
    expect(new URL(page.url()).search).to.equal('?return_to=%2Fusage%3Fby%3Dkey');
    expect(await page.textContent('h1')).to.equal('Sign in');
  });

  it('keeps the theme that was chosen in a cookie', async () => {
    const session = await dashboard.signIn(dashboard.account.id);
    const look = { session, javaScriptEnabled: false };
    const { context, page } = await visit(browser(), dashboard.url, look);
    await page.goto('/settings');
    await page.getByText('Dark', { exact: true }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    expect(await page.getAttribute('html', 'data-theme')).to.equal('dark');
    const cookies = await context.cookies();
    expect(cookies.find(({ name }) => name === 'theme')).to.include({
      value: 'dark',
      httpOnly: true,
      sameSite: 'Lax',
      secure: false,
    });
    await page.getByText('As the system').click();
    await page.getByRole('button', { name: 'Save' }).click();
    expect(await page.getAttribute('html', 'data-theme')).to.equal(null);
  });

  it('shows times in the own zone of the person, and keeps UTC for who asks', async () => {
    const session = await dashboard.signIn(dashboard.account.id);
    const { page } = await visit(browser(), dashboard.url, { session });
    await page.goto('/settings');
    const time = page.locator('time[data-local]');
    expect(await time.getAttribute('title')).to.equal('20 Nov 2026, 15:42 UTC');
    expect(await time.textContent()).to.equal('20 Nov 2026, 16:42');
  });
});
