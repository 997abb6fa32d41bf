import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { describeInBrowser, expectNoSidewaysScroll, visit } from '../../helpers/browser.js';
import { chat } from '../../helpers/ask.js';
import { until } from '../../helpers/until.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import { WIDTHS } from '../../helpers/looks.js';

const NAMES = ['requests', 'accounts', 'tokens', 'audit', 'tasks', 'boxes', 'providers', 'bills'];
const PATHS = ['/operator', ...NAMES.map((one) => `/operator/${one}`)];

describeInBrowser('the pages of operators', (browser) => {
  let dashboard: TestDashboard;

  before(async () => {
    dashboard = await startDashboard();
  });
  after(() => dashboard.close());

  async function operator(): Promise<{ page: Page; faults: string[] }> {
    const session = await dashboard.signIn(dashboard.account.id, true);
    return visit(browser(), dashboard.url, { session, javaScriptEnabled: false });
  }

  it('make an account and credit it, without scripts', async () => {
    const { page, faults } = await operator();
    await page.goto('/operator/accounts');
    await page.getByLabel('Name').fill('ada@example.org');
    await page.getByLabel('Credit').fill('1.50');
    await page.getByRole('button', { name: 'Create account' }).click();
    expect(await page.textContent('h1')).to.equal('ada@example.org');
    await page.getByLabel('Amount').fill('$10.25');
    await page.getByRole('button', { name: 'Add credit' }).click();
    expect(await page.textContent('[role=status]')).to.include('$11.75');
    const account = await dashboard.gateway.store.account('ada@example.org');
    expect(account?.balance_nano).to.equal(11_750_000_000n);
    expect(faults).to.deep.equal([]);
  });

  it('wrote a million dollars in the audit log without a comma', async () => {
    const { page } = await operator();
    await dashboard.gateway.store.createAccount('rich', 1_234_567_890_000_000n);
    await page.goto('/operator/audit?account=rich');
    expect(await page.textContent('tbody')).to.include('$1,234,567.89');
  });

  it('break no action of the audit log within a word, and name the ID of a key', async () => {
    const { page } = await operator();
    const { gateway, account, key_id } = dashboard;
    await page.goto(`/operator/accounts/${account.id}?tab=keys`);
    expect(await page.textContent('tbody')).to.include(key_id);
    await gateway.store.createAccount('audited', 0n, {
      kind: 'cli',
      id: 'root',
      name: null,
      request_id: null,
    });
    await page.goto('/operator/audit?account=audited');
    expect(await page.locator('tbody strong').first().innerHTML()).to.equal(
      'account.<wbr>create<wbr>',
    );
  });

  it('do not call a provider quiet that refuses all', async () => {
    const yaml = `
owners: { me: { name: Me } }
providers: { picky: { uses: simulator, settings: { fail: 400 } } }
models:
  m: { owner: me, capabilities: [chat], upstreams: [{ provider: picky }], price: free }
`;
    const other = await startDashboard({}, yaml);
    try {
      const { status } = await chat(other, {
        model: 'm',
        messages: [{ role: 'user', content: 'Hi' }],
      });
      expect(status).to.equal(400);
      const session = await other.signIn(other.account.id, true);
      const { page } = await visit(browser(), other.url, { session });
      await page.goto('/operator/providers');
      const row = page.getByRole('region', { name: 'Providers' }).getByRole('row').last();
      expect(await row.textContent())
        .to.include('refuses all')
        .and.not.include('quiet');
    } finally {
      await other.close();
    }
  });

  it('credit once what is sent twice', async () => {
    const { page } = await operator();
    const { id } = await dashboard.gateway.store.createAccount('grace', 0n);
    await page.goto(`/operator/accounts/${id}`);
    const form = page.locator('form', { has: page.getByLabel('Amount') });
    const action = new URL((await form.getAttribute('action')) ?? '', page.url()).href;
    const reference = await page.inputValue('#reference');
    await page.getByLabel('Amount').fill('5');
    await page.getByRole('button', { name: 'Add credit' }).click();
    expect(await page.textContent('[role=status]')).to.include('$5.00');
    // As a browser sends the form of a page that it had kept, or on a second click.
    const again = { form: { amount: '5', reference }, headers: { origin: dashboard.url } };
    expect((await page.request.post(action, again)).status()).to.equal(200);
    const account = await dashboard.gateway.store.account(id);
    expect(account?.balance_nano).to.equal(5_000_000_000n);
    const other = { ...again, form: { amount: '5', reference: `${reference}-2` } };
    await page.request.post(action, other);
    const later = await dashboard.gateway.store.account(id);
    expect(later?.balance_nano).to.equal(10_000_000_000n);
  });

  it('say what is wrong with an account or an amount', async () => {
    const { page } = await operator();
    await page.goto('/operator/accounts');
    await page.getByLabel('Name').fill('tester');
    await page.getByRole('button', { name: 'Create account' }).click();
    expect(await page.textContent('#name-fault')).to.include('tester');
    await page.goto(`/operator/accounts/${dashboard.account.id}`);
    await page.getByLabel('Amount').fill('plenty');
    await page.getByRole('button', { name: 'Add credit' }).click();
    expect(await page.textContent('#amount-fault')).to.include('amount');
    expect(await page.inputValue('#amount')).to.equal('plenty');
  });

  it('make a link that signs in to an account, once, and not as an operator', async () => {
    const { page } = await operator();
    const { id } = await dashboard.gateway.store.createAccount('linked', 0n);
    await page.goto(`/operator/accounts/${id}`);
    await page.getByRole('button', { name: 'Make sign-in link' }).click();
    const link = (await page.getByRole('region', { name: 'sign-in link' }).textContent()) ?? '';
    const { page: other } = await visit(browser(), dashboard.url);
    await other.goto(link);
    expect(await other.textContent('.person')).to.include('linked');
    expect(await other.locator('a[href^="/operator"]').count()).to.equal(0);
    const { page: late } = await visit(browser(), dashboard.url);
    expect((await late.goto(link))?.status()).to.equal(400);
    await late.getByRole('link', { name: 'To the sign-in page' }).click();
    expect(await late.textContent('h1')).to.equal('Sign in');
  });

  it('revoke a key of an account, after a question', async () => {
    const { page, faults } = await operator();
    const { store } = dashboard.gateway;
    const { id } = await store.createAccount('keyed', 0n);
    const { key } = await store.createKey(id, 'Lost laptop');
    await page.goto(`/operator/accounts/${id}`);
    await page.getByRole('link', { name: 'API Keys' }).last().click();
    await page.getByRole('link', { name: 'Revoke Lost laptop' }).click();
    expect((await store.keys(id))[0]?.revoked_ms).to.equal(null);
    await page.getByRole('button', { name: 'Revoke key' }).click();
    expect(await page.textContent('[role=status]')).to.equal('The key is revoked.');
    expect((await store.keys(id))[0]?.revoked_ms).to.be.a('number');
    const again = await page.goto(`/operator/accounts/${id}/keys/${key.id}/revoke`);
    expect(again?.status()).to.equal(404);
    expect(faults).to.deep.equal([]);
  });

  it('find an account by its name, or show those that follow in the alphabet', async () => {
    const { page } = await operator();
    const { id } = await dashboard.gateway.store.createAccount('wilma', 0n);
    await page.goto('/operator/accounts');
    await page.getByLabel('Find an account').fill(' wilma ');
    await page.getByRole('button', { name: 'Find' }).click();
    expect(new URL(page.url()).pathname).to.equal(`/operator/accounts/${id}`);
    await page.goto('/operator/accounts?find=wil');
    expect(await page.textContent('[role=status]')).to.include('There is no account wil.');
    expect(await page.locator('tbody tr').first().textContent()).to.include('wilma');
    await page.getByRole('link', { name: 'First page' }).click();
    expect(await page.locator('tbody tr').first().textContent()).not.to.include('wilma');
  });

  it('say of a failed task that it was not charged', async () => {
    const { page } = await operator();
    const headers = { authorization: `Bearer ${dashboard.secret}` };
    const body = JSON.stringify({ prompt: '[fail]', parameters: { duration_seconds: 1 } });
    const post = {
      method: 'POST',
      body,
      headers: { ...headers, 'content-type': 'application/json' },
    };
    const answer = await fetch(`${dashboard.url}/v1/queue/google/veo-3.1`, post);
    const task = (await answer.json()) as { status_url: string };
    await until(async () => {
      const status = await fetch(dashboard.url + task.status_url, { headers });
      return (await status.text()).includes('FAILED');
    }, 'the task fails');
    await page.goto('/operator/tasks?status=FAILED');
    expect(await page.textContent('tbody tr')).to.include('not charged');
  });

  it('lead from a task to its request, and nowhere where its record is gone', async () => {
    const { gateway, account, secret, key_id } = dashboard;
    const { store } = gateway;
    await store.tasks.begin({
      id: 'kept-no-record',
      account_id: account.id,
      key_id,
      model: 'google/veo-3.1',
      provider: 'simulator',
      upstream_model: 'veo-3.1',
      price_nano: 0n,
      upstream_price_nano: 0n,
      fee_nano: 0n,
      upstream_fee_nano: 0n,
      call: {
        resolution: '720p',
        duration_seconds: 8,
        generate_audio: true,
        aspect_ratio: '16:9',
        sample_count: 1,
      },
      hold_nano: 0n,
      due_ms: Date.now() + 60_000,
    });
    const answer = await fetch(`${dashboard.url}/v1/queue/google/veo-3.1`, {
      method: 'POST',
      body: JSON.stringify({ prompt: 'a lake', parameters: { duration_seconds: 1 } }),
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    });
    const { request_id } = (await answer.json()) as { request_id: string };
    await until(async () => (await store.requests.one(request_id)) !== undefined, 'its record');
    for (const width of WIDTHS) {
      const session = await dashboard.signIn(account.id, true);
      const look = { session, width, javaScriptEnabled: false };
      const { page, faults } = await visit(browser(), dashboard.url, look);
      await page.goto('/operator/tasks');
      const rows = page.locator('tbody tr');
      const gone = rows.filter({ hasText: 'kept-no-recor' });
      expect(await gone.locator('.lead a').count()).to.equal(0);
      await expectNoSidewaysScroll(page);
      await rows
        .filter({ hasText: request_id.slice(0, 13) })
        .locator('.lead a')
        .first()
        .click();
      await page.waitForURL(`**/operator/requests/${request_id}`);
      expect(faults).to.deep.equal([]);
    }
  });

  it('are for operators only', async () => {
    const session = await dashboard.signIn(dashboard.account.id);
    const { page } = await visit(browser(), dashboard.url, { session });
    for (const path of PATHS) expect((await page.goto(path))?.status(), path).to.equal(403);
    await page.goto('/');
    expect(await page.locator('a[href^="/operator"]').count()).to.equal(0);
  });
});
