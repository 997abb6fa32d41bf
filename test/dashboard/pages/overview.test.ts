import { expect } from 'chai';
import {
  describeInBrowser,
  expectNoSidewaysScroll,
  follow,
  visit,
  type BrowserLook,
} from '../../helpers/browser.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import { seedMonth } from '../../helpers/seed-month.js';
import { WIDTHS } from '../../helpers/looks.js';

describeInBrowser('the overview and the usage of an account', (browser) => {
  const clock = { now_ms: Date.parse('2026-11-20T15:42:00Z') };
  let dashboard: TestDashboard;

  before(async () => {
    dashboard = await startDashboard({ now: () => clock.now_ms, credit: '100' });
    const { gateway, account, key_id } = dashboard;
    await seedMonth(gateway.store, clock, account.id, [key_id, key_id]);
  });
  after(() => dashboard.close());

  async function open(path: string, look: BrowserLook = {}) {
    const session = await dashboard.signIn(dashboard.account.id);
    const opened = await visit(browser(), dashboard.url, { ...look, session });
    await opened.page.goto(path);
    return opened;
  }

  it('show what it has and what it has spent, without scripts', async () => {
    const { page } = await open('/', { javaScriptEnabled: false });
    const { store } = dashboard.gateway;
    const account = await store.account(dashboard.account.id);
    const balance = Number(account?.balance_nano ?? 0n) / 1e9;
    const shown = `$${(Math.floor(balance * 100) / 100).toFixed(2)}`;
    expect(await page.textContent('.figures')).to.include(shown);
    expect(await page.locator('.plot g').count()).to.equal(30);
    expect(await page.getByRole('img', { name: 'Charged by day' }).count()).to.equal(1);
    expect(await page.locator('.legend li').count()).to.equal(5);
    expect(
      await page.getByRole('region', { name: 'Activity' }).locator('tbody tr').count(),
    ).to.equal(10);
  });

  it('explain a bar of the chart to who points at it', async () => {
    const { page, faults } = await open('/');
    await page.locator('.plot g').last().hover();
    const tip = page.locator('.tip');
    await tip.waitFor();
    expect(await tip.textContent()).to.match(/^20 Nov: \$\d/u);
    expect(await tip.textContent()).to.include('claude-sonnet-4-5');
    await page.locator('h1').hover();
    await tip.waitFor({ state: 'hidden' });
    expect(faults).to.deep.equal([]);
  });

  it('sum up the same, however they are grouped', async () => {
    const { page } = await open('/usage', { javaScriptEnabled: false });
    const totals = new Set<string | null>();
    for (const name of ['By model', 'By key', 'By agent', 'By time']) {
      await follow(page.getByRole('link', { name, exact: true }));
      totals.add(await page.locator('tfoot').textContent());
    }
    expect(totals.size).to.equal(1);
  });

  it('show the classes of tokens that were used, and no others', async () => {
    const { page } = await open('/usage?by=model', { javaScriptEnabled: false });
    expect(await page.locator('thead th').allTextContents()).to.deep.equal([
      'Model',
      'Charged',
      'Calls',
      'Errors',
      'Input tokens',
      'Cached',
      'Output tokens',
      'Reasoning',
    ]);
    await page.goto('/');
    const activity = page.getByRole('region', { name: 'Activity' });
    expect(await activity.textContent()).to.match(/\d cached · [\d,]+ reasoning/u);
  });

  it('filter by model, and hand out the same filter as CSV', async () => {
    const { page } = await open('/usage?by=model', { javaScriptEnabled: false });
    await page.getByLabel('Model').selectOption('gpt-image-1');
    await follow(page.getByRole('button', { name: 'Apply' }));
    expect(await page.locator('tbody tr').allTextContents()).to.have.length(1);
    const link = page.getByRole('link', { name: 'Download CSV' });
    const answer = await page.request.get((await link.getAttribute('href')) ?? '');
    expect(answer.headers()['content-type']).to.include('text/csv');
    const [, ...rows] = (await answer.text()).trim().split('\r\n');
    expect(rows).to.have.length(1);
    expect(rows[0]).to.include('gpt-image-1');
  });

  it('show spend, calls, tokens, errors or latency, each by the hour for short ranges', async () => {
    const { page } = await open('/usage', { javaScriptEnabled: false });
    for (const name of ['Calls', 'Tokens', 'Errors', 'Latency', 'Charged']) {
      await follow(page.getByRole('link', { name, exact: true }));
      expect(await page.getByRole('img', { name: `${name} by day` }).count(), name).to.equal(1);
      expect(await page.locator('.plot g').count(), name).to.equal(30);
      expect(await page.locator('.legend li').count(), name).to.be.at.least(2);
    }
    await follow(page.getByRole('link', { name: 'Today' }));
    expect(await page.getByRole('img', { name: 'Charged by hour' }).count()).to.equal(1);
    expect(await page.locator('.plot g').count()).to.equal(24);
    expect(await page.textContent('.figures')).to.match(/[▲▼] \d+ %/u);
    expect(await page.textContent('.figures')).to.match(/about \d+ days left/u);
  });

  it('draw no bar wider than 48 px, and the axes also where nothing was used', async () => {
    const { page } = await open('/usage?from=2026-11-17&to=2026-11-20');
    const widths = await page
      .locator('.piece')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
    expect(Math.max(...widths)).to.be.within(47, 48.5);
    await page.goto('/usage?model=none');
    expect(await page.locator('.plot line').count()).to.equal(2);
    expect(await page.locator('.plot .axis text').allTextContents()).to.deep.equal(['$0.00', '']);
    expect(await page.textContent('.plot')).to.include('Nothing in this range');
  });

  it('show every entry of the ledger, page by page', async () => {
    const { page } = await open('/', { javaScriptEnabled: false });
    await follow(page.locator('main').getByRole('link', { name: 'Ledger' }));
    expect(await page.locator('tbody tr').count()).to.equal(50);
    const newest = await page.locator('tbody a').first().getAttribute('href');
    await page.getByRole('link', { name: 'Older entries' }).click();
    expect(await page.locator('tbody a').first().getAttribute('href')).not.to.equal(newest);
    await page.getByRole('link', { name: 'Newest entries' }).click();
    expect(await page.locator('tbody a').first().getAttribute('href')).to.equal(newest);
  });

  for (const width of WIDTHS) {
    it(`lost their menu over a range that makes no sense at ${width} px`, async () => {
      const { page } = await open('/', { width, javaScriptEnabled: false });
      for (const [query, said] of [
        ['from=2026-02-30', 'From must be a day such as 2026-11-21.'],
        ['from=2026-11-20&to=2026-11-19', 'From must not be after to.'],
        ['from=2020-01-01', 'The range may have at most 366 days.'],
        ['to=never', 'To must be a day such as 2026-11-21.'],
      ]) {
        expect((await page.goto(`/usage?${query}`))?.status(), query).to.equal(400);
        expect(await page.locator('.side').count()).to.equal(1);
        expect(await page.locator('.filters .wrong').allTextContents()).to.deep.equal([said]);
        await expectNoSidewaysScroll(page);
      }
      await page.goto('/usage?from=2026-11-20&to=2026-11-19&model=gpt-4o-mini');
      expect(await page.getByLabel('To', { exact: true }).inputValue()).to.equal('2026-11-19');
      expect(await page.getByLabel('Model').inputValue()).to.equal('gpt-4o-mini');
      await page.getByLabel('To', { exact: true }).fill('2026-11-20');
      await follow(page.getByRole('button', { name: 'Apply' }));
      expect(await page.getByRole('img', { name: 'Charged by hour' }).count()).to.equal(1);
      await page.goto('/usage?from=2026-02-30');
      await follow(page.getByRole('link', { name: 'Clear the filter' }));
      expect(await page.locator('.plot g').count()).to.equal(30);
    });
  }

  it('show nothing of one account to another, whose first call they explain', async () => {
    const newcomer = await dashboard.gateway.store.createAccount('newcomer', 0n);
    const session = await dashboard.signIn(newcomer.id);
    const { page } = await visit(browser(), dashboard.url, { session });
    await page.goto('/');
    const text = await page.textContent('main');
    expect(text).to.include('Make your first call').and.include(`${dashboard.url}/v1/chat`);
    expect(text).to.include('Ask an operator of this gateway to credit your account, newcomer.');
    expect(text).not.to.include('claude-sonnet-4-5');
    await page.goto('/usage');
    expect(await page.textContent('main')).to.include('No calls in this range');
    expect(await page.locator('.legend, table').count()).to.equal(0);
    await page.goto(`/usage?key=${dashboard.key_id}`);
    expect(await page.textContent('main')).to.include('No calls in this range');
  });
});
