import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import {
  describeInBrowser,
  expectAccessible,
  expectNoSidewaysScroll,
  visit,
} from '../../helpers/browser.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import { isLong } from '../../helpers/long.js';
import { seedMonth } from '../../helpers/seed-month.js';
import { LOOKS, WIDTHS } from '../../helpers/looks.js';

const PATHS = [
  '/',
  '/usage',
  '/usage?by=model&from=2026-11-01&to=2026-11-20',
  '/usage?model=none',
  '/usage?show=latency&by=key',
  '/usage?by=agent&agent=none',
  '/caches',
  '/caches?from=2026-01-01&to=2026-01-02',
  '/usage?show=errors&from=2026-11-19&to=2026-11-20',
  '/usage?show=tokens&from=2026-01-01&to=2026-11-20',
  '/requests',
  '/requests?status=failed',
  '/requests?model=none',
  '/requests/ANSWERED',
  '/requests/FAILED',
  '/ledger',
  '/models',
  '/models?q=nothing-like-it',
  '/models/gpt-4o-mini',
  '/models/google/veo-3.1',
  '/agents',
  '/playground',
  '/settings',
  '/settings/keys',
  '/settings/keys/new',
  '/settings/keys/KEY/revoke',
  '/operator',
  '/operator?over=hour',
  '/operator?over=month',
  '/operator/requests',
  '/operator/requests/FAILED',
  '/operator/accounts',
  '/operator/accounts/ACCOUNT',
  '/operator/accounts/ACCOUNT/refund/CHARGE',
  '/operator/audit',
  '/operator/tokens',
  '/operator/tokens/new',
  '/operator/accounts/ACCOUNT?tab=keys',
  '/operator/accounts/ACCOUNT?tab=ledger',
  '/operator/accounts/ACCOUNT/keys/KEY/revoke',
  '/operator/tasks',
  '/operator/boxes',
  '/operator/providers',
  '/operator/bills',
  '/operator/profit',
  '/operator/accounts/nobody',
  '/requests/nobody',
  '/here-is-nobody',
];
/** Pages that are made as another one in the list: axe takes a second for each. */
const ALIKE = [
  /^\/usage\?(?!show=latency)/u,
  /^\/(?:requests|models)\?/u,
  /^\/(?:requests|operator\/accounts)\/nobody$/u,
  /^\/models\/gpt/u,
  /^\/operator\?over/u,
  // Lists, and forms, that one function makes: `/requests`, `/operator/accounts`, `/settings/keys`.
  /^\/operator\/(?:requests|audit|tokens|tasks)/u,
  /\/revoke$/u,
  /^\/operator\/accounts\/[^/]+(?:\?tab=ledger|\/keys\/.+)$/u,
];
const STRANGERS_PATHS = ['/sign-in', '/sign-in?return_to=%2Fusage', '/here-is-nobody'];
describeInBrowser('every page', (browser) => {
  // Looking at everything takes its time on a machine that has other things to do.
  const PATIENCE_MS = 900_000;
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
      const some = await someRequests();
      const ids: Record<string, string> = {
        KEY: key_id,
        ACCOUNT: account.id,
        CHARGE: await lastCharge(),
        ...some,
      };
      const paths = PATHS.map((path) =>
        path.replaceAll(/[A-Z]{3,}/gu, (name) => ids[name] ?? name),
      );
      await tour(browser(), paths, { ...look, session });
    }).timeout(PATIENCE_MS);

    it(`can be used by all, ${name}, for a newcomer and a stranger`, async () => {
      const { gateway, signIn } = dashboard;
      const newcomer = await gateway.store.createAccount(`new-${name}`, 0n);
      const session = await signIn(newcomer.id);
      const paths = ['/', '/usage', '/usage?show=latency', '/requests', '/settings/keys'];
      await tour(browser(), [...paths, '/playground'], { ...look, session });
      await gateway.store.suspend(newcomer.id);
      await tour(browser(), ['/', '/settings/keys'], { ...look, session });
      await tour(browser(), STRANGERS_PATHS, look);
    }).timeout(PATIENCE_MS);
  }

  /** The request of the newest charge of the account. */
  async function lastCharge(): Promise<string> {
    const { gateway, account } = dashboard;
    const newest = { before: Number.MAX_SAFE_INTEGER, limit: 50 };
    const entries = await gateway.store.ledger(account.id, newest);
    const charge = entries.find(({ kind, amount_nano }) => kind === 'charge' && amount_nano < 0n);
    if (!charge) throw new Error('There is no charge.');
    return charge.reference;
  }

  async function someRequests(): Promise<Record<string, string>> {
    const { requests } = dashboard.gateway.store;
    const [answered] = await requests.page({ limit: 1, model: 'claude-sonnet-4-5', status: 2 });
    const [failed] = await requests.page({ limit: 1, failed: true });
    return { ANSWERED: answered?.id ?? '', FAILED: failed?.id ?? '' };
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
      expect(await page.locator('main h1:visible').count(), path).to.equal(1);
      await expectNoSidewaysScroll(page);
      if (isLong || !ALIKE.some((pattern) => pattern.test(path))) await expectAccessible(page);
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
    await page.locator('#main:focus').waitFor();
  });

  it('has a menu on a phone, which opens and closes without a script', async () => {
    const session = await dashboard.signIn(dashboard.account.id, true);
    const look = { session, width: 390, javaScriptEnabled: false };
    const { page } = await visit(browser(), dashboard.url, look);
    await page.goto('/models');
    const link = page.getByRole('link', { name: 'Audit log' });
    expect(await link.isVisible()).to.equal(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await link.waitFor();
    await expectNoSidewaysScroll(page);
    await page.keyboard.press('Escape');
    await link.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Menu' }).click();
    await link.click();
    expect(await page.textContent('h1')).to.equal('Audit log');
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

  it('shows times as one can say them, and exactly in both zones to who points at one', async () => {
    const session = await dashboard.signIn(dashboard.account.id);
    const { page } = await visit(browser(), dashboard.url, { session });
    await page.goto('/settings');
    const time = page.locator('time[data-local]');
    expect(await time.textContent()).to.equal('just now');
    const exact = '20 Nov 2026, 16:42 (20 Nov 2026, 15:42 UTC)';
    expect(await time.getAttribute('title')).to.equal(exact);
  });
});

describeInBrowser('names of sixty letters', (browser) => {
  const [account_name, key_name, model, provider] = ['a', 'k', 'm', 'p'].map((one) =>
    one.repeat(60),
  );
  const yaml = `
owners: { meta: { name: Meta } }
providers: { ${provider}: { uses: simulator } }
models:
  ${model}:
    owner: meta
    capabilities: [chat]
    upstreams: [{ provider: ${provider}, model: ${model} }]
    price: { input_per_million: 0.15, output_per_million: 0.60 }
`;
  let dashboard: TestDashboard;
  let paths: string[];
  let session: string;

  before(async () => {
    dashboard = await startDashboard({}, yaml);
    const { gateway, signIn } = dashboard;
    const { store } = gateway;
    const { id } = await store.createAccount(account_name ?? '', 10n ** 9n);
    const { secret } = await store.createKey(id, key_name ?? '');
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] });
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const call = { method: 'POST', headers, body };
    const answer = await fetch(`${dashboard.url}/v1/chat/completions`, call);
    expect(answer.status).to.equal(200);
    const request_id = answer.headers.get('x-request-id') ?? '';
    await answer.text();
    session = await signIn(id, true);
    const usage = ['/usage?by=key', '/usage?by=model', '/usage?by=agent', '/caches'];
    const pages = ['/', ...usage, '/requests', '/ledger', '/models'];
    const own = ['/settings', '/settings/keys', '/settings/keys/new', `/models/${model}`];
    const names = ['requests', 'accounts', 'audit', 'providers', `requests/${request_id}`];
    const operator = ['/operator', ...names.map((name) => `/operator/${name}`)];
    paths = [...pages, ...own, ...operator, `/operator/accounts/${id}?tab=ledger`];
  });
  after(() => dashboard.close());

  for (const width of WIDTHS) {
    it(`lay over the figures of their row, or pushed them away, at ${width} px`, async () => {
      const { page } = await visit(browser(), dashboard.url, { session, width });
      for (const path of paths) {
        await page.goto(path);
        await expectNoSidewaysScroll(page);
        const wide = await page
          .locator('.fold, td.lead, td.breaks, .choice, .timeline strong')
          .evaluateAll((all: HTMLElement[]) =>
            all
              .filter((one) => {
                const room = (one.closest('.scroll, .card') ?? one).clientWidth;
                return one.scrollWidth > Math.max(one.clientWidth, 1) + 1 || one.offsetWidth > room;
              })
              .map((one) => one.textContent),
          );
        expect(wide, path).to.deep.equal([]);
      }
    }).timeout(240_000);
  }
});
