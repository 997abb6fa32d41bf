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
    for (const path of ['/', '/settings/keys', '/operator/configuration']) {
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
});
