import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { RequestRecord } from '../../../src/core/request-record.js';
import { describeInBrowser, expectNoSidewaysScroll, follow, visit } from '../../helpers/browser.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import { failureAt, seedMonth } from '../../helpers/seed-month.js';
import { WIDTHS } from '../../helpers/looks.js';
import { recordAt } from '../../store/requests/helpers.js';

const DAY_MS = 86_400_000;

describeInBrowser('the pages of requests', (browser) => {
  const clock = { now_ms: Date.parse('2026-11-20T15:42:00Z') };
  let dashboard: TestDashboard;
  /** Yesterday's: an upstream was paid in part, and then said no more. */
  let failed: RequestRecord;

  before(async () => {
    dashboard = await startDashboard({ now: () => clock.now_ms, credit: '100' });
    const { gateway, account, key_id } = dashboard;
    await seedMonth(gateway.store, clock, account.id, [key_id, key_id]);
    const call = recordAt(clock.now_ms - DAY_MS, {
      account_id: account.id,
      key_id,
      model: 'gpt-4o-mini',
      provider: 'simulator',
      upstream_model: 'gpt-4o-mini',
    });
    const [attempt] = failureAt(call).attempts;
    if (!attempt) throw new Error('A failure has an attempt.');
    failed = {
      ...failureAt(call),
      attempts: [{ ...attempt, message: 'The upstream broke off: 〈no capacity〉' }],
      prompt_tokens: 2_000,
      completion_tokens: 500,
      cost_nano: 600_000n,
    };
    await gateway.store.requests.add([failed]);
    while (await gateway.store.requests.rollUp());
  });
  after(() => dashboard.close());

  async function open(path: string, width: number, operator: boolean) {
    const session = await dashboard.signIn(dashboard.account.id, operator);
    const look = { session, width, javaScriptEnabled: false };
    const opened = await visit(browser(), dashboard.url, look);
    await opened.page.goto(path);
    return opened;
  }

  async function expectTheCall(page: Page): Promise<void> {
    await page.waitForURL(`**/requests/${failed.id}`);
    const text = (await page.textContent('main')) ?? '';
    expect(text).to.include('The upstream broke off: 〈no capacity〉').and.include('502');
    expect(await page.locator('.figures').textContent()).to.include('$0.0006');
    const cost = page.getByRole('region', { name: 'Cost' });
    expect(await cost.getByRole('row', { name: 'Input' }).textContent()).to.include('2,000');
    expect(await cost.getByRole('row', { name: 'Total' }).textContent()).to.include('$0.0006');
    await expectNoSidewaysScroll(page);
  }

  for (const width of WIDTHS) {
    it(`lead from the overview to yesterday's failed call in three clicks at ${width} px`, async () => {
      const { page, faults } = await open('/', width, false);
      await page.locator('.figures a', { hasText: /\d/u }).first().click();
      await page.getByRole('link', { name: 'Yesterday' }).click();
      await page
        .getByRole('row', { name: 'no capacity' })
        .getByRole('link', { name: 'gpt-4o-mini' })
        .click();
      await expectTheCall(page);
      expect(faults).to.deep.equal([]);
    });

    it(`lead an operator there from the live page at ${width} px`, async () => {
      const { page, faults } = await open('/operator', width, true);
      await page.locator('.figures a').first().click();
      await page.getByRole('link', { name: 'Yesterday' }).click();
      await page
        .getByRole('row', { name: 'no capacity' })
        .getByRole('link', { name: 'gpt-4o-mini' })
        .click();
      await expectTheCall(page);
      expect(await page.textContent('.timeline')).to.include('simulator · gpt-4o-mini');
      const steps = await page.locator('.timeline .row').allTextContents();
      expect(steps.map((text) => text.replaceAll(/\s+/gu, ' '))).to.deep.equal([
        'Came in',
        'API key accepted1 ms',
        'Request read2 ms',
        'Hold settled5 ms',
        'simulator · gpt-4o-mini overloaded, 529, overloaded_error410 ms',
        'End 502 upstream_error after 1 attempt415 ms',
      ]);
      expect(faults).to.deep.equal([]);
    });
  }

  it('filter by what the address names, and page by a cursor', async () => {
    const { page } = await open('/requests', 1280, false);
    const models = page.locator('tbody .lead strong');
    expect(await models.count()).to.equal(50);
    await page.getByLabel('Model').selectOption('gpt-image-1');
    await follow(page.getByRole('button', { name: 'Apply' }));
    expect(new URL(page.url()).searchParams.get('model')).to.equal('gpt-image-1');
    expect(new Set(await models.allTextContents())).to.deep.equal(new Set(['gpt-image-1']));
    const first = await page.locator('tbody a').first().getAttribute('href');
    await follow(page.getByRole('link', { name: 'Older requests' }));
    expect(new URL(page.url()).searchParams.get('model')).to.equal('gpt-image-1');
    expect(await page.locator('tbody a').first().getAttribute('href')).not.to.equal(first);
    await follow(page.getByRole('link', { name: 'Newest requests' }));
    expect(await page.locator('tbody a').first().getAttribute('href')).to.equal(first);
  });

  it('find a request by its ID, wherever it was copied from', async () => {
    const { page } = await open('/requests', 1280, false);
    await page.getByLabel('Request ID').fill(`  chatcmpl-${failed.id.toUpperCase()} `);
    await page.getByRole('button', { name: 'Find' }).click();
    await expectTheCall(page);
    const answer = await page.goto('/requests?id=nothing');
    expect(answer?.status()).to.equal(404);
    expect(await page.textContent('[role=status]')).to.include('There is no request nothing here');
  });

  it('show nobody the request of another account, nor who its upstream is', async () => {
    const { store } = dashboard.gateway;
    const other = await store.createAccount('eve', 0n);
    const session = await dashboard.signIn(other.id);
    const { page } = await visit(browser(), dashboard.url, { session });
    expect((await page.goto(`/requests/${failed.id}`))?.status()).to.equal(404);
    expect((await page.goto(`/requests?id=${failed.id}`))?.status()).to.equal(404);
    expect((await page.goto(`/operator/requests/${failed.id}`))?.status()).to.equal(403);
    await page.goto(`/requests?account=${dashboard.account.id}&key=${dashboard.key_id}`);
    expect(await page.textContent('main')).to.include('No such request');

    const { page: own } = await open(`/requests/${failed.id}`, 1280, false);
    expect(await own.textContent('main')).not.to.include('simulator');
    await own.goto('/requests?provider=nobody');
    expect(await own.locator('tbody tr').count()).to.equal(50);
  });

  for (const width of WIDTHS) {
    it(`lost their menu over a filter that cannot be read at ${width} px`, async () => {
      for (const path of ['/requests', '/operator/requests']) {
        const { page } = await open(path, width, true);
        const query = 'from=nonsense&status=abc&model=gpt-4o-mini';
        const answer = await page.goto(`${path}?${query}`);
        expect(answer?.status()).to.equal(400);
        expect(await page.locator('.side').count()).to.equal(1);
        expect(await page.locator('.filters .wrong').allTextContents()).to.deep.equal([
          'From must be a day or a minute, such as 2026-11-21 or 2026-11-21T14:05.',
          'Status must be failed, a status such as 502, or a class such as 5xx.',
        ]);
        expect(await page.getByLabel('Model').inputValue()).to.equal('gpt-4o-mini');
        expect(await page.locator('tbody tr').count()).to.equal(0);
        expect(await page.getByRole('link', { name: 'Older requests' }).count()).to.equal(0);
        await expectNoSidewaysScroll(page);
        await follow(page.getByRole('button', { name: 'Apply' }));
        expect(await page.locator('tbody tr').count()).to.be.at.least(1);
      }
    });
  }

  it('show the whole of a time in the filter of operators, and of an ID that is looked for', async () => {
    const { page } = await open('/operator/requests', 1280, true);
    await page.goto(
      '/operator/requests?from=2026-11-19T10:30&id=0190b7c4-7a5e-7d2c-9b1a-3f0e5d6c7b8a',
    );
    const from = await page.getByLabel('From').boundingBox();
    expect(from?.width).to.be.at.least(170);
    const id = page.getByLabel('Request ID');
    const [text, room] = await id.evaluate((input: HTMLInputElement) => [
      input.scrollWidth,
      input.clientWidth,
    ]);
    expect(text).to.be.at.most(Number(room));
  });

  for (const path of ['/requests', '/ledger', '/operator/accounts', '/operator/audit']) {
    it(`lost the menu of ${path} over a cursor that cannot be read`, async () => {
      const { page } = await open('/requests', 1280, true);
      const answer = await page.goto(`${path}?status=failed&cursor=%00`);
      expect(answer?.status()).to.equal(400);
      expect(await page.locator('.side [aria-current=page]').getAttribute('href')).to.equal(path);
      await expectNoSidewaysScroll(page);
      await follow(page.getByRole('link', { name: 'To the first page' }));
      expect(page.url()).to.equal(`${dashboard.url}${path}?status=failed`);
    });
  }

  it('say what is wrong with a time, a status or a cursor', async () => {
    const { page } = await open('/requests', 1280, false);
    for (const [query, said] of [
      ['from=2026-02-30', 'From must be a day or a minute'],
      ['status=bad', 'Status must be failed'],
      ['cursor=%00', 'cursor must be'],
    ]) {
      expect((await page.goto(`/requests?${query}`))?.status(), query).to.equal(400);
      expect(await page.textContent('main')).to.include(said);
    }
  });
});
