import { expect } from 'chai';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { describeInBrowser, follow, visit, type Visit } from '../../helpers/browser.js';
import { formatAmount } from '../../../src/dashboard/pages/formatting.js';
import { freePort } from '../../helpers/free-port.js';
import { startSignInGateway, type SignInGateway } from './helpers/sign-in-gateway.js';

describeInBrowser('two people, from sign-in to revoked key', (browser) => {
  let ground: SignInGateway;
  let url: string;
  const visits: Visit[] = [];

  before(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    ground = await startSignInGateway({ public_url: url, port });
  });
  after(async () => {
    for (const { context } of visits) await context.close();
    await ground.close();
  });

  const arrive = async (): Promise<Page> => {
    const person = await visit(browser(), url);
    visits.push(person);
    return person.page;
  };
  const signIn = async (page: Page, as: string): Promise<void> => {
    await page.getByRole('link', { name: 'Continue with Acme ID' }).click();
    await page.getByRole('link', { name: as, exact: true }).click();
    await page.waitForURL((address) => address.origin === url);
  };
  const call = (apiKey: string): Promise<string> =>
    new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }).chat.completions
      .create({ model: 'm', messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 20 })
      .then(({ choices }) => choices[0]?.message.content ?? '');
  const textOf = (page: Page): Promise<string> => page.locator('body').innerText();

  let ada: Page;
  let secret: string;

  it('asks a stranger to sign in, and brings them to where they wanted to go', async () => {
    ada = await arrive();
    await ada.goto('/settings/keys');
    expect(new URL(ada.url()).pathname).to.equal('/sign-in');
    await signIn(ada, 'ada');
    expect(ada.url()).to.equal(`${url}/settings/keys`);
  });

  it('shows the secret of a new key once', async () => {
    await ada.getByRole('link', { name: 'Create API Key' }).first().click();
    await ada.getByLabel('Name').fill('laptop');
    await ada.getByRole('button', { name: 'Create API Key' }).click();
    secret = (await ada.locator('#secret').innerText()).trim();
    expect(secret).to.match(/^tg-\w{20,}$/u);
    for (const path of ['/settings/keys', '/settings', '/', '/usage']) {
      await ada.goto(path);
      expect(await ada.content(), path).not.to.include(secret);
    }
    await ada.goto('/settings/keys');
    expect(await textOf(ada))
      .to.include('laptop')
      .and.include(secret.slice(0, 6));
  });

  it('lets the OpenAI package in with it, and shows what that used', async () => {
    expect(await call(secret)).not.to.equal('');
    const { id = '' } = (await ground.gateway.gateway.store.account('ada@example.org')) ?? {};
    const entries = await ground.gateway.gateway.store.ledger(id, { limit: 10 });
    const charges = entries.filter(({ kind }) => kind === 'charge');
    expect(charges).to.have.length(1);
    const cost_nano = -(charges[0]?.amount_nano ?? 0n);
    expect(cost_nano > 0n).to.equal(true);
    // The totals follow the requests every second.
    const { requests } = ground.gateway.gateway.store;
    while (await requests.rollUp()) continue;
    for (const by of ['model', 'key']) {
      await ada.goto(`/usage?by=${by}`);
      const rows = await ada.locator('tbody tr').allInnerTexts();
      expect(rows).to.have.length(1);
      expect(rows[0]).to.match(by === 'model' ? /^m\b/u : /^laptop\b/u);
      expect(rows[0]).to.include(formatAmount(cost_nano));
    }
  });

  it('shows none of it to a second person', async () => {
    const grace = await arrive();
    await grace.goto('/');
    await signIn(grace, 'grace');
    for (const path of ['/', '/usage', '/settings', '/settings/keys']) {
      await grace.goto(path);
      const text = await grace.content();
      expect(text, path).not.to.include('laptop').and.not.include('ada@example.org');
      expect(text, path).not.to.include(secret.slice(0, 8));
    }
    const answer = await grace.request.get('/api/accounts');
    expect(answer.status()).to.equal(403);
  });

  it('refuses a key that was revoked at the very next call', async () => {
    await ada.goto('/settings/keys');
    await ada.getByRole('link', { name: 'Revoke laptop' }).click();
    await follow(ada.getByRole('button', { name: 'Revoke key' }));
    const error = await call(secret).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(OpenAI.AuthenticationError).with.property('status', 401);
  });

  it('lets people out again', async () => {
    await ada.goto('/settings');
    await ada
      .getByRole('button', { name: /^sign out$/iu })
      .first()
      .click();
    await ada.waitForURL(/\/sign-in/u);
    await ada.goto('/usage');
    expect(new URL(ada.url()).pathname).to.equal('/sign-in');
  });

  it('breaks no rule of a browser on the way', () => {
    const own = visits
      .flatMap(({ faults }) => faults)
      .filter((fault) => !fault.startsWith(`outside: ${ground.openid.issuer}/`));
    expect(own).to.deep.equal([]);
  });
});

describeInBrowser('a sign-in that is not what it should be', (browser) => {
  let ground: SignInGateway;
  let url: string;
  let person: Visit;
  let page: Page;

  before(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    ground = await startSignInGateway({ public_url: url, port });
  });
  after(() => ground.close());
  beforeEach(async () => {
    ground.now_ms += 60_000;
    person = await visit(browser(), url);
    page = person.page;
  });
  afterEach(() => person.context.close());

  /** Where this browser is sent to sign in; it has the cookie that belongs to it. */
  const begin = async (): Promise<URL> => {
    const answer = await page.request.get('/sign-in/acme', { maxRedirects: 0 });
    return new URL(answer.headers().location ?? '');
  };
  /** Signs in at the provider from there on; answers the address that it came back to. */
  const comeBack = async (address: URL): Promise<URL> => {
    const back = page.waitForRequest((request) => request.url().includes('/callback?'));
    await page.goto(address.href);
    await page.getByRole('link', { name: 'ada', exact: true }).click();
    const callback = new URL((await back).url());
    await page.waitForLoadState();
    return callback;
  };
  const expectRefused = async (status: number): Promise<void> => {
    expect(await page.locator('body').innerText()).to.include(`Error ${status}`);
    const cookies = await person.context.cookies(url);
    expect(cookies.map(({ name }) => name)).not.to.include('session');
    await page.goto('/settings');
    expect(new URL(page.url()).pathname).to.equal('/sign-in');
  };

  it('is refused for a code that was used', async () => {
    const callback = await comeBack(await begin());
    expect(await person.context.cookies(url)).not.to.deep.equal([]);
    await person.context.clearCookies();
    await page.goto(callback.href);
    await expectRefused(400);
    const state = (await begin()).searchParams.get('state') ?? '';
    callback.searchParams.set('state', state);
    await page.goto(callback.href);
    await expectRefused(400);
  });

  it('is refused for a link that was used', async () => {
    const { gateway, account } = ground.gateway;
    const options = { operator: false, lifetime_ms: 600_000 };
    const { secret } = await gateway.store.sign_in.createLink(account.id, options);
    const link = `/sign-in/link?token=${secret}`;
    await page.goto(link);
    expect(page.url()).to.equal(`${url}/`);
    await person.context.clearCookies();
    await page.goto(link);
    await expectRefused(400);
  });
});
