import { expect } from 'chai';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';

describe('the pages without a browser', () => {
  let dashboard: TestDashboard;

  before(async () => {
    dashboard = await startDashboard();
  });
  after(() => dashboard.close());

  const get = (path: string, session?: string): Promise<Response> =>
    fetch(dashboard.url + path, {
      redirect: 'manual',
      headers: session === undefined ? {} : { cookie: `session=${session}` },
    });

  it('are never stored by a browser', async () => {
    const session = await dashboard.signIn(dashboard.account.id, true);
    for (const path of ['/', '/settings/keys', '/operator/audit']) {
      expect((await get(path, session)).headers.get('cache-control'), path).to.equal('no-store');
    }
  });

  it('send who is signed in on from the sign-in page, and never elsewhere', async () => {
    const session = await dashboard.signIn(dashboard.account.id);
    const led = async (to: string): Promise<string | null> => {
      const answer = await get(`/sign-in?return_to=${encodeURIComponent(to)}`, session);
      expect(answer.status).to.equal(303);
      return answer.headers.get('location');
    };
    expect(await led('/usage?by=key')).to.equal('/usage?by=key');
    expect(await led('https://evil.example/')).to.equal('/');
    expect(await led('//evil.example/')).to.equal('/');
  });

  it('refuse a form that is none, is too large or has an unknown theme', async () => {
    const session = await dashboard.signIn(dashboard.account.id);
    const post = async (type: string, body: string): Promise<number> => {
      const headers = { cookie: `session=${session}`, origin: dashboard.url, 'content-type': type };
      const url = `${dashboard.url}/settings/theme`;
      return (await fetch(url, { method: 'POST', redirect: 'manual', headers, body })).status;
    };
    const form = 'application/x-www-form-urlencoded';
    expect(await post(form, 'theme=dark')).to.equal(303);
    expect(await post(form, 'theme=constructor')).to.equal(400);
    expect(await post('application/json', '{"theme":"dark"}')).to.equal(400);
    expect(await post(form, `theme=${'x'.repeat(70_000)}`)).to.equal(413);
  });

  it('tell a browser by a page that there is nothing, and a program as JSON', async () => {
    const asked = async (path: string, accept: string, method = 'GET') => {
      const answer = await fetch(dashboard.url + path, { method, headers: { accept } });
      return { answer, type: answer.headers.get('content-type'), text: await answer.text() };
    };
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const html = await asked('/nothing-<here>', browser);
    expect(html.answer.status).to.equal(404);
    expect(html.type).to.equal('text/html; charset=utf-8');
    expect(html.answer.headers.get('content-security-policy')).to.include("default-src 'none'");
    expect(html.text).to.include('<h1>Nothing here</h1>').and.not.to.include('<here>');
    const wrong = await asked('/v1/chat/completions', browser);
    expect(wrong.answer.status).to.equal(405);
    expect(wrong.answer.headers.get('allow')).to.equal('POST');
    expect(wrong.type).to.equal('text/html; charset=utf-8');
    for (const [accept, method] of [
      ['*/*', 'GET'],
      ['application/json', 'GET'],
      [browser, 'POST'],
    ] as const) {
      const { answer, text } = await asked('/nothing', accept, method);
      expect(answer.status, accept).to.equal(404);
      expect(JSON.parse(text), accept).to.have.nested.property('error.code', 'not_found');
    }
    // An endpoint speaks to programs only.
    expect((await asked('/v1/models', browser)).text).to.match(/^\{"error"/u);
  });

  const FORM = 'application/x-www-form-urlencoded';
  const post = (path: string, body: string, headers: Record<string, string>): Promise<Response> =>
    fetch(dashboard.url + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: dashboard.url, 'content-type': FORM, ...headers },
      body,
    });

  it('lost the menu at an unknown address, also for a signed-in visitor', async () => {
    const cookie = `session=${await dashboard.signIn(dashboard.account.id)}`;
    const headers = { cookie, accept: 'text/html' };
    const missing = await fetch(`${dashboard.url}/nothing`, { headers });
    expect(missing.status).to.equal(404);
    const text = await missing.text();
    expect(text).to.include('id="menu"').and.include('href="/settings/keys"');
    expect(text).to.include(dashboard.account.name);
    const wrong = await post('/usage', '', headers);
    expect(wrong.status).to.equal(405);
    expect(await wrong.text()).to.include('id="menu"');
    const stranger = await fetch(`${dashboard.url}/nothing`, { headers: { accept: 'text/html' } });
    expect(await stranger.text()).not.to.include('id="menu"');
  });

  it('left no way back to the form after a session had expired', async () => {
    const signInLink = async (path: string, referer?: string): Promise<string | undefined> => {
      const answer = await post(path, 'name=x', referer === undefined ? {} : { referer });
      expect(answer.status).to.equal(401);
      return /href="(\/sign-in[^"]*)"/u.exec(await answer.text())?.[1];
    };
    const { url } = dashboard;
    const back = '/sign-in?return_to=%2Fsettings%2Fkeys%2Fnew';
    expect(await signInLink('/settings/keys', `${url}/settings/keys/new`)).to.equal(back);
    const tab = `${url}/operator/accounts/acc_1?tab=keys`;
    expect(await signInLink('/operator/accounts/acc_1/suspend', tab)).to.equal(
      '/sign-in?return_to=%2Foperator%2Faccounts%2Facc_1%3Ftab%3Dkeys',
    );
    // Other sites, and addresses that take only POST, are no place to return to.
    for (const referer of [
      undefined,
      'https://evil.example/settings/keys/new',
      `${url}.evil.example/settings/keys`,
      `${url}@evil.example/settings/keys`,
      `${url}//evil.example/`,
      `${url}/settings/theme`,
      `${url}/nothing`,
    ]) {
      expect(await signInLink('/settings/keys', referer), referer).to.equal('/sign-in');
    }
  });

  it('showed All for an unknown owner or capability that hid every model', async () => {
    const session = await dashboard.signIn(dashboard.account.id);
    const text = await (await get('/models?owner=nobody&can=flight', session)).text();
    expect(text).to.include('<option value="nobody" selected>nobody</option>');
    expect(text).to.include('<option value="flight" selected>flight</option>');
    const all = await (await get('/models', session)).text();
    expect(all.split('>All</option>')).to.have.length(3);
  });

  it('told the visitor of a suspended account to make the first call', async () => {
    const { store } = dashboard.gateway;
    const { id } = await store.createAccount('suspended', 0n);
    const session = await dashboard.signIn(id);
    expect(await (await get('/', session)).text()).to.include('Make your first call');
    await store.suspend(id);
    const text = await (await get('/', session)).text();
    expect(text).not.to.include('Make your first call');
    expect(text).to.include('Your account is suspended').and.include('account_suspended');
    expect(text).to.include('Ask an operator of this gateway to resume the account');
    const keys = await (await get('/settings/keys', session)).text();
    expect(keys).to.include('No active key').and.not.to.include('/settings/keys/new');
    await store.resume(id);
    expect(await (await get('/', session)).text()).to.include('Make your first call');
    expect(await (await get('/settings/keys', session)).text()).to.include('/settings/keys/new');
  });

  const formToken = async (path: string, cookie: string): Promise<string> => {
    const form = await (await fetch(dashboard.url + path, { headers: { cookie } })).text();
    return /name="form_token" value="([\w-]{22})"/u.exec(form)?.[1] ?? '';
  };

  it('made two management tokens of a form that was sent twice without JavaScript', async () => {
    const cookie = `session=${await dashboard.signIn(dashboard.account.id, true)}`;
    const form_token = await formToken('/operator/tokens/new', cookie);
    const send = (scopes: string) => {
      const body = new URLSearchParams({ form_token, name: 'shop', scopes }).toString();
      return post('/operator/tokens', body, { cookie });
    };
    // A refused form keeps its token.
    const refused = await send('nothing');
    expect(refused.status).to.equal(400);
    expect(await refused.text()).to.include(form_token);
    const first = await send('accounts:read');
    const second = await send('accounts:read');
    expect([first.status, second.status]).to.deep.equal([201, 409]);
    expect(await first.text()).to.include('id="secret"');
    const [token, ...others] = await dashboard.gateway.store.tokens.list();
    expect(others).to.deep.equal([]);
    const text = await second.text();
    expect(text).to.include(`/operator/tokens/${token?.id}/revoke`).and.not.to.include('tgm_');
  });

  it('made two keys of a form that was sent twice without JavaScript', async () => {
    const { store } = dashboard.gateway;
    const { id } = await store.createAccount('twice', 0n);
    const cookie = `session=${await dashboard.signIn(id)}`;
    const form_token = await formToken('/settings/keys/new', cookie);
    const send = (name: string) =>
      post('/settings/keys', new URLSearchParams({ form_token, name }).toString(), { cookie });
    // A refused form keeps its token.
    const refused = await send('');
    expect(refused.status).to.equal(400);
    expect(await refused.text()).to.include(form_token);
    const answers = await Promise.all([send('CI'), send('CI')]);
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([201, 409]);
    const second = texts.find((text) => !text.includes('id="secret"')) ?? '';
    expect(texts.filter((text) => text.includes('id="secret"'))).to.have.length(1);
    const [key, ...others] = await store.keys(id);
    expect(others).to.deep.equal([]);
    expect(second).to.include(`/settings/keys/${key?.id}/revoke`);
    // Another account's form with the same token makes a key of its own.
    const other = await store.createAccount('other', 0n);
    const theirs = { cookie: `session=${await dashboard.signIn(other.id)}` };
    const body = new URLSearchParams({ form_token, name: 'CI' }).toString();
    expect((await post('/settings/keys', body, theirs)).status).to.equal(201);
  });
});
