import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { chat } from '../../helpers/ask.js';
import {
  describeInBrowser,
  expectAccessible,
  follow,
  visit,
  type BrowserLook,
} from '../../helpers/browser.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import { WIDTHS } from '../../helpers/looks.js';

const HELLO = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };

describeInBrowser('the changes that operators make', (browser) => {
  let dashboard: TestDashboard;

  before(async () => {
    dashboard = await startDashboard();
  });
  after(() => dashboard.close());

  async function customer(name: string) {
    const { store } = dashboard.gateway;
    const { id } = await store.createAccount(name, 5_000_000_000n);
    const { secret } = await store.createKey(id, 'laptop');
    const call = () => chat({ url: dashboard.url, secret }, HELLO);
    return { id, call };
  }

  async function operator(look: BrowserLook = {}): Promise<{ page: Page; faults: string[] }> {
    const session = await dashboard.signIn(dashboard.account.id, true);
    return visit(browser(), dashboard.url, { session, javaScriptEnabled: false, ...look });
  }

  it('suspend an account, which it sees, and resume it', async () => {
    const { id, call } = await customer('ada');
    const { page, faults } = await operator();
    await page.goto(`/operator/accounts/${id}`);
    await page.getByRole('button', { name: 'Suspend account' }).click();
    expect(await page.textContent('[role=status]')).to.include('suspended');
    expect((await call()).status).to.equal(403);
    await page.goto('/operator/accounts');
    expect(await page.locator('tr', { hasText: 'ada' }).textContent()).to.include('suspended');
    await page.goto(`/operator/accounts/${id}`);
    const session = await dashboard.signIn(id);
    const own = await visit(browser(), dashboard.url, { session, javaScriptEnabled: false });
    await own.page.goto('/settings/keys/new');
    expect(await own.page.textContent('[role=alert]')).to.include('suspended');
    await own.page.getByLabel('Name').fill('phone');
    await follow(own.page.getByRole('button', { name: 'Create API key' }));
    expect(await own.page.textContent('main')).to.include('it gets no new key');
    await page.getByRole('button', { name: 'Resume account' }).click();
    expect(await page.textContent('[role=status]')).to.include('resumed');
    expect((await call()).status).to.equal(200);
    await own.page.goto('/');
    expect(await own.page.locator('[role=alert]').count()).to.equal(0);
    expect(faults).to.deep.equal([]);
  });

  it('refund a part of a charge once, and never too much', async () => {
    const { id, call } = await customer('grace');
    await call();
    const { store } = dashboard.gateway;
    const charged = (await store.account(id))?.balance_nano ?? 0n;
    const { page, faults } = await operator();
    await page.goto(`/operator/accounts/${id}?tab=ledger`);
    await page.getByRole('link', { name: 'Refund' }).click();
    await page.getByLabel('Amount').fill('4');
    await page.getByRole('button', { name: 'Refund' }).click();
    expect(await page.textContent('#amount-fault')).to.include('can be refunded');
    expect(await page.inputValue('#amount')).to.equal('4');
    const action = new URL(page.url()).pathname;
    const reference = await page.inputValue('#reference');
    await page.getByLabel('Amount').fill('0.000000002');
    await page.getByRole('button', { name: 'Refund' }).click();
    expect(await page.textContent('[role=status]')).to.include('refund is booked');
    const again = {
      form: { amount: '0.000000002', reference },
      headers: { origin: dashboard.url },
    };
    expect((await page.request.post(action, again)).status()).to.equal(200);
    expect((await store.account(id))?.balance_nano).to.equal(charged + 2n);
    await page.goto(action);
    await page.getByRole('button', { name: 'Refund' }).click();
    expect((await store.account(id))?.balance_nano).to.equal(5_000_000_000n);
    await page.goto(action);
    expect(await page.getByRole('button', { name: 'Refund' }).count()).to.equal(0);
    expect((await store.verify()).faults).to.deep.equal([]);
    const missing = await page.goto(`/operator/accounts/${id}/refund/none`);
    expect(missing?.status()).to.equal(404);
    expect(
      faults.filter((fault) => !fault.includes('400') && !fault.includes('404')),
    ).to.deep.equal([]);
  });

  for (const width of WIDTHS) {
    it(`limit an account, and raise an allowance for a while, ${width} pixels wide`, async () => {
      const { id } = await customer(`limited ${width}`);
      const { store } = dashboard.gateway;
      const { page, faults } = await operator({ width, javaScriptEnabled: true });
      await page.goto(`/operator/accounts/${id}`);
      expect(await page.textContent('main')).to.include('No allowances and no rates.');
      await page.getByRole('link', { name: 'Edit limits' }).click();
      await page.getByLabel('Allowances').fill('day=5.00 5h=1');
      await page.getByLabel('Temporary increase').fill('week=10');
      await page.getByLabel('Tokens a minute').fill('100000');
      await page.getByRole('button', { name: 'Save' }).click();
      expect(await page.textContent('[id="raise-fault"]')).to.include('no allowance a week');
      expect(await page.getByLabel('Allowances').inputValue()).to.equal('day=5.00 5h=1');
      await page.getByLabel('Temporary increase').fill('day=$10');
      await page.getByLabel('The increase ends').selectOption('In 7 days');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Save' }).click();
      expect(await page.textContent('[role=status]')).to.include('The limits are changed');
      expect(await page.locator('.facts').textContent())
        .to.include('A day$15.00 of $15.00 leftreturns ')
        .and.include('with $10.00 more, which end in 7 days')
        .and.include('In 5h$1.00 of $1.00 left')
        .and.include('Tokens per minute100,000');
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Edit limits' }).click();
      expect(await page.getByLabel('Allowances').inputValue()).to.equal('5h=1.00 day=5.00');
      await page.getByLabel('Allowances').fill('day=6.00');
      await page.getByLabel('Tokens a minute').fill('');
      await page.getByRole('button', { name: 'Save' }).click();
      const [day, ...others] = (await store.allowances('account', [id])).get(id) ?? [];
      expect(day).to.include({ amount_nano: 6_000_000_000n, extra_nano: 10_000_000_000n });
      expect(others).to.deep.equal([]);
      expect((await store.account(id))?.rates).to.equal(null);
      await page.goto(`/operator/audit?account=${id}`);
      const [last, first] = await page.locator('tbody tr').allTextContents();
      expect(last).to.include('day 5.00, 5h 1.00').and.include('day 6.00, 5h none');
      expect(first).to.include('tokens per minute 100000').and.not.include('[object');
      expect(faults).to.deep.equal([]);
    });

    it(`edit, raise and rotate the key of an account, ${width} pixels wide`, async () => {
      const { id } = await customer(`holder ${width}`);
      const { store } = dashboard.gateway;
      const other = await customer(`other ${width}`);
      const { page, faults } = await operator({ width, javaScriptEnabled: true });
      await page.goto(`/operator/accounts/${id}?tab=keys`);
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Edit laptop' }).click();
      await page.getByLabel('Allowances').fill('day=2');
      await page.getByLabel('Temporary increase').fill('day=3');
      await page.getByRole('button', { name: 'Save' }).click();
      expect(await page.textContent('[role=status]')).to.include('The key is changed');
      const row = page.getByRole('row', { name: 'laptop' });
      expect(await row.textContent()).to.include('day: $5.00 of $5.00 left');
      await page.getByRole('link', { name: 'Rotate laptop' }).click();
      await page.getByLabel('The old secret works').selectOption('For an hour');
      await page.getByRole('button', { name: 'Rotate key' }).click();
      expect(await page.textContent('h1')).to.equal('The new secret of “laptop”');
      const secret = (await page.textContent('#secret')) ?? '';
      expect((await chat({ url: dashboard.url, secret }, HELLO)).status).to.equal(200);
      await page.getByRole('link', { name: 'Done' }).click();
      await row.waitFor();
      const [foreign] = await store.keys(other.id);
      const path = `/operator/accounts/${id}/keys/${foreign?.id}`;
      for (const verb of ['edit', 'rotate']) {
        expect((await page.goto(`${path}/${verb}`))?.status()).to.equal(404);
      }
      expect(faults).to.deep.equal([]);
    });
  }

  it('make a management token, whose secret is shown once, and revoke it', async () => {
    const { page, faults } = await operator();
    const { tokens } = dashboard.gateway.store;
    await page.goto('/operator');
    await page.getByRole('link', { name: 'Management tokens' }).click();
    await page.getByRole('link', { name: 'Create token' }).first().click();
    await page.getByLabel('Name').fill('shop');
    await page.getByRole('button', { name: 'Create token' }).click();
    expect(await page.textContent('#scopes-fault')).to.equal('Choose at least one scope.');
    expect(await page.inputValue('#name')).to.equal('shop');
    await page.getByLabel('accounts:read').check();
    await page.getByLabel('requests:read').check();
    await page.getByLabel('Expires').selectOption({ label: 'In 30 days' });
    await page.getByRole('button', { name: 'Create token' }).click();
    const secret = (await page.getByRole('region', { name: 'secret' }).textContent()) ?? '';
    const headers = { authorization: `Bearer ${secret}` };
    const ask = async (path: string) => (await fetch(dashboard.url + path, { headers })).status;
    expect(await ask('/api/accounts')).to.equal(200);
    expect(await ask('/api/audit')).to.equal(403);
    const [token] = await tokens.list();
    expect(token).to.deep.include({ name: 'shop', scopes: ['accounts:read', 'requests:read'] });
    expect(token?.expires_ms).to.be.greaterThan(Date.now());
    await page.getByRole('link', { name: 'Done' }).click();
    expect(await page.content()).not.to.include(secret);
    expect(await page.textContent('tbody'))
      .to.include('requests:read')
      .and.include('in 30 days');
    await page.getByRole('link', { name: 'Revoke shop' }).click();
    expect(await ask('/api/accounts')).to.equal(200);
    await page.getByRole('button', { name: 'Revoke token' }).click();
    expect(await page.textContent('[role=status]')).to.include('The token is revoked.');
    expect(await ask('/api/accounts')).to.equal(401);
    await page.goto('/operator/audit');
    const changes = await page.locator('tbody tr').allTextContents();
    expect(changes[0]).to.include('token.revoke').and.include('person');
    expect(changes[1]).to.include('token.create').and.include('accounts:read, requests:read');
    const again = await page.goto(`/operator/tokens/${token?.id}/revoke`);
    expect(again?.status()).to.equal(404);
    expect(
      faults.filter((fault) => !fault.includes('400') && !fault.includes('404')),
    ).to.deep.equal([]);
  });

  it('are in the audit log, page by page', async () => {
    const { id } = await customer('edith');
    const { store } = dashboard.gateway;
    for (let at = 0; at < 52; at++) await store.credit(id, 1n, `order ${at}`);
    const { page, faults } = await operator();
    await page.goto(`/operator/accounts/${id}`);
    await page.getByRole('button', { name: 'Suspend account' }).click();
    await follow(page.getByRole('link', { name: 'Audit log' }));
    const first = page.locator('tbody tr').first();
    expect(await first.textContent())
      .to.include('account.suspend')
      .and.include('person');
    expect(await page.locator('tbody tr').count()).to.equal(50);
    await page.goto(`/operator/accounts/${id}`);
    await page.getByRole('link', { name: 'All changes' }).click();
    await follow(page.getByRole('link', { name: 'Older changes' }));
    expect(await page.textContent('tbody'))
      .to.include('account.create')
      .and.include('order 0');
    expect(await page.locator('tbody tr').count()).to.equal(5);
    expect(faults).to.deep.equal([]);
  });

  it('are refused from another site and to others', async () => {
    const { id } = await customer('mary');
    const paths = ['suspend', 'resume', 'sign-in-link', 'refund/r1', '../../tokens'];
    for (const isOperator of [true, false]) {
      const cookie = `session=${await dashboard.signIn(dashboard.account.id, isOperator)}`;
      const origin = isOperator ? 'https://evil.example' : dashboard.url;
      for (const path of paths) {
        const answer = await fetch(`${dashboard.url}/operator/accounts/${id}/${path}`, {
          method: 'POST',
          headers: { cookie, origin },
        });
        expect(answer.status, path).to.equal(403);
      }
    }
    expect((await dashboard.gateway.store.account(id))?.suspended_ms).to.equal(null);
  });
});
