import { expect } from 'chai';
import OpenAI from 'openai';
import {
  describeInBrowser,
  expectAccessible,
  follow,
  visit,
  type BrowserLook,
  type Visit,
} from '../../helpers/browser.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import { WIDTHS } from '../../helpers/looks.js';

describeInBrowser('the pages of keys', (browser) => {
  let dashboard: TestDashboard;

  before(async () => {
    dashboard = await startDashboard();
  });
  after(() => dashboard.close());

  /** Somebody new, signed in. */
  async function newcomer(name: string, look: BrowserLook = {}): Promise<Visit & { id: string }> {
    const account = await dashboard.gateway.store.createAccount(name, 5_000_000_000n);
    const session = await dashboard.signIn(account.id);
    return { ...(await visit(browser(), dashboard.url, { ...look, session })), id: account.id };
  }

  const works = async (secret: string): Promise<boolean> => {
    const client = new OpenAI({ baseURL: `${dashboard.url}/v1`, apiKey: secret, maxRetries: 0 });
    try {
      await client.models.list();
      return true;
    } catch (error) {
      expect(error).to.be.instanceOf(OpenAI.AuthenticationError);
      return false;
    }
  };

  it('make a key, show its secret once, and revoke it, without scripts', async () => {
    const { page, faults } = await newcomer('ada', { javaScriptEnabled: false });
    await page.goto('/settings');
    await page.getByRole('link', { name: 'API Keys', exact: true }).click();
    await page.getByRole('link', { name: 'Create API Key' }).first().click();
    await page.getByLabel('Name').fill('Ada’s <laptop>');
    await page.getByLabel('Spending limit').fill('$2.50');
    await page.getByLabel('Expires').selectOption('In 7 days');
    await page.getByLabel('gpt-4o-mini').check();
    const answering = page.waitForResponse((answer) => answer.request().method() === 'POST');
    await page.getByRole('button', { name: 'Create API Key' }).click();
    const answer = await answering;
    expect(answer.status()).to.equal(201);
    expect(answer.headers()['cache-control']).to.equal('no-store');
    const secret = (await page.textContent('#secret')) ?? '';
    expect(secret).to.match(/^tg-/u);
    expect(page.url()).not.to.include(secret);
    expect(await works(secret)).to.equal(true);

    await follow(page.getByRole('link', { name: 'Done' }));
    const row = page.getByRole('row', { name: 'Ada’s <laptop>' });
    expect(await row.textContent()).to.include('only gpt-4o-mini');
    expect(await row.textContent()).to.include('of $2.50');
    expect(await page.content()).not.to.include(secret);

    await row.getByRole('link', { name: 'Revoke' }).click();
    expect(await page.textContent('h1')).to.equal('Revoke “Ada’s <laptop>”?');
    expect(await works(secret)).to.equal(true);
    await page.getByRole('button', { name: 'Revoke key' }).click();
    expect(await page.textContent('[role=status]')).to.include('The key is revoked');
    expect(await works(secret)).to.equal(false);
    expect(faults).to.deep.equal([]);
  });

  for (const width of WIDTHS) {
    it(`edit a key, and show what is left of it, ${width} pixels wide`, async () => {
      const look: BrowserLook = { width, height: 900 };
      const { page, id, faults } = await newcomer(`editor ${width}`, look);
      const { store } = dashboard.gateway;
      const { key } = await store.createKey(id, 'agent', { allowances: { week: 7_000_000_000n } });
      await page.goto('/settings/keys');
      await page.getByRole('link', { name: 'Edit agent' }).click();
      expect(await page.getByLabel('Allowances').inputValue()).to.equal('week=7.00');
      await expectAccessible(page);
      await page.getByLabel('Name').fill('robot');
      await page.getByLabel('Allowances').fill('day=5.00 24h=1');
      await page.getByLabel('Requests a minute').fill('60');
      await page.getByRole('button', { name: 'Save' }).click();
      expect(await page.textContent('main')).to.include('day and 24h have one length');
      await page.getByLabel('Allowances').fill('day=5.00, 5h=$1');
      await page.getByRole('button', { name: 'Save' }).click();
      expect(await page.textContent('[role=status]')).to.include('The key is changed');
      const row = page.getByRole('row', { name: 'robot' });
      expect(await row.textContent()).to.include('day: $5.00 of $5.00 leftreturns ');
      expect(await row.textContent()).to.include('requests per minute: 60');
      await expectAccessible(page);
      await row.getByRole('link', { name: 'Edit' }).click();
      await page.getByLabel('Allowances').fill('');
      await page.getByLabel('Requests a minute').fill('');
      await page.getByRole('button', { name: 'Save' }).click();
      expect(await store.key(key.id)).to.include({ name: 'robot', rates: null });
      expect((await store.allowances('key', [key.id])).size).to.equal(0);
      expect(faults).to.deep.equal([]);
    });
  }

  it('rotate a key once, also of a form that is sent twice, and show the new secret', async () => {
    const { page, id, faults } = await newcomer('rotator');
    const { store } = dashboard.gateway;
    const { secret } = await store.createKey(id, 'old');
    await page.goto('/settings/keys');
    await page.getByRole('link', { name: 'Rotate old' }).click();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Rotate key' }).click();
    const shown = (await page.textContent('#secret')) ?? '';
    expect([await works(secret), await works(shown)]).to.deep.equal([true, true]);
    await page.getByRole('link', { name: 'Done' }).click();
    expect(await page.getByRole('row', { name: 'old' }).textContent()).to.include(
      'old secret ends in ',
    );
    await page.goto(`/settings/keys/${(await store.keys(id))[0]?.id}/rotate`);
    await page.locator('input[name=prefix]').evaluate(
      (input, prefix) => {
        (input as HTMLInputElement).value = prefix;
      },
      secret.slice(0, 10),
    );
    await page.getByRole('button', { name: 'Rotate key' }).click();
    expect(await page.textContent('main')).to.include('was rotated before');
    expect([await works(secret), await works(shown)]).to.deep.equal([true, true]);
    expect(faults.filter((fault) => !fault.includes('400'))).to.deep.equal([]);
  });

  it('show people the limits that their keys share, and no way to change them', async () => {
    const { page, id, faults } = await newcomer('sharer', { width: 390 });
    await page.goto('/settings/keys');
    expect(await page.locator('.facts').count()).to.equal(0);
    await dashboard.gateway.store.editAccount(id, {
      allowances: { amounts: { month: 60_000_000_000n } },
      rates: { concurrent_requests: 20 },
    });
    await page.reload();
    expect(await page.locator('.facts').textContent())
      .to.include('A month$60.00 of $60.00 leftreturns ')
      .and.include('Concurrent requests20');
    await expectAccessible(page);
    expect((await page.goto(`/operator/accounts/${id}/limits`))?.status()).to.equal(403);
    expect(faults).to.deep.equal([]);
  });

  it('made two keys of a double click, and showed the secret of one', async () => {
    const { page, id } = await newcomer('hasty');
    await page.goto('/settings/keys/new');
    await page.getByLabel('Name').fill('Twice');
    await page.getByRole('button', { name: 'Create API Key' }).dblclick();
    const secret = (await page.textContent('#secret')) ?? '';
    expect(await works(secret)).to.equal(true);
    expect(await dashboard.gateway.store.keys(id)).to.have.length(1);
  });

  it('make a key by keyboard alone', async () => {
    const { page } = await newcomer('grace');
    await page.goto('/settings/keys');
    await followByKeys('Create API Key', '/settings/keys/new');
    await page.locator('#name:focus').waitFor();
    await page.keyboard.type('Grace’s');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#secret');
    await followByKeys('Done, I have copied it', '/settings/keys');
    await page.getByRole('row', { name: 'Grace’s' }).waitFor();

    async function followByKeys(name: string, path: string): Promise<void> {
      for (let tabs = 0; tabs < 40; tabs += 1) {
        await page.keyboard.press('Tab');
        const text = await page.evaluate('document.activeElement.textContent');
        if (String(text).trim() !== name) continue;
        await page.keyboard.press('Enter');
        await page.waitForURL(dashboard.url + path);
        return;
      }
      throw new Error(`${name} cannot be reached.`);
    }
  });

  it('copy the secret, and do not show or make it again when loaded again', async () => {
    const { page, id, faults } = await newcomer('linus', { clipboard: true });
    await page.goto('/settings/keys/new');
    await page.getByLabel('Name').fill('Once');
    await page.getByRole('button', { name: 'Create API Key' }).click();
    const secret = await page.textContent('#secret');
    await expectAccessible(page);
    // The word goes again by itself, so a wait for it begins before it comes.
    await Promise.all([
      page.getByText('Copied', { exact: true }).waitFor(),
      page.getByRole('button', { name: 'Copy secret' }).click(),
    ]);
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(secret);
    await page.reload();
    expect(await page.textContent('h1')).to.equal('API Keys');
    expect(await page.content()).not.to.include(secret);
    await page.goBack();
    expect(await page.content()).not.to.include(secret);
    expect(await dashboard.gateway.store.keys(id)).to.have.length(1);
    expect(faults).to.deep.equal([]);
  });

  it('say what is wrong with a form, and keep what was typed', async () => {
    const { page, id } = await newcomer('edsger', { javaScriptEnabled: false });
    await page.goto('/settings/keys/new');
    // As a browser would send it that checks nothing by itself.
    const answer = await page.request.post('/settings/keys', {
      form: { name: 'Kept <name>', limit: 'lots' },
      headers: { origin: dashboard.url },
    });
    expect(answer.status()).to.equal(400);
    const text = await answer.text();
    expect(text).to.include('value="Kept &lt;name>"').and.include('id="limit-fault"');
    expect(await dashboard.gateway.store.keys(id)).to.have.length(0);
  });

  it('show nobody the keys of another account, and let nobody revoke them', async () => {
    const one = await newcomer('barbara');
    const other = await newcomer('frances');
    const { store } = dashboard.gateway;
    const { key, secret } = await store.createKey(one.id, 'Of Barbara');
    await other.page.goto('/settings/keys');
    expect(await other.page.content()).not.to.include('Of Barbara');
    const path = `/settings/keys/${key.id}/revoke`;
    const seen = await other.page.goto(path);
    const unknown = await other.page.goto('/settings/keys/key_unknown/revoke');
    expect([seen?.status(), unknown?.status()]).to.deep.equal([404, 404]);
    const headers = { origin: dashboard.url };
    const form = {};
    expect((await other.page.request.post(path, { headers, form })).status()).to.equal(404);
    expect(await works(secret)).to.equal(true);
    await one.page.goto('/settings/keys');
    expect(await one.page.content()).to.include('Of Barbara');
  });

  it('refuse a form that another site has sent', async () => {
    const { page, id } = await newcomer('alan');
    const answer = await page.request.post('/settings/keys', {
      form: { name: 'Foreign' },
      headers: { origin: 'https://evil.example' },
    });
    expect(answer.status()).to.equal(403);
    expect(await dashboard.gateway.store.keys(id)).to.have.length(0);
  });
});
