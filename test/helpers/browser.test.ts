import { AssertionError, expect } from 'chai';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeInBrowser, expectAccessible, expectNoSidewaysScroll, visit } from './browser.js';

const PAGES: Record<string, string> = {
  '/sound': '<p>Hello</p>',
  '/wide': '<p style="width: 3000px">wide</p>',
  '/unnamed': '<button></button>',
  '/outside': '<img alt="" src="http://127.0.0.2:9/x.png"><script>nothing()</script>',
};

describeInBrowser('the browser of the tests', (browser) => {
  const server = createServer((req, res) => {
    const body = PAGES[req.url ?? ''] ?? '';
    res.setHeader('content-type', 'text/html; charset=utf-8');
    res.end(`<!doctype html><html lang="en"><title>x</title><main>${body}</main></html>`);
  });
  let url = '';

  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('has nothing against a sound page', async () => {
    const { page, faults } = await visit(browser(), url);
    await page.goto('/sound');
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    expect(faults).to.deep.equal([]);
  });

  it('reports a page that is too wide or not accessible', async () => {
    const { page } = await visit(browser(), url, { width: 390 });
    await page.goto('/wide');
    expect(await fails(() => expectNoSidewaysScroll(page))).to.include('wider than its window');
    await page.goto('/unnamed');
    expect(await fails(() => expectAccessible(page))).to.include('button-name');
  });

  it('reports script errors and requests to other sites', async () => {
    const { page, faults } = await visit(browser(), url);
    await page.goto('/outside');
    expect(faults.join('\n')).to.include('outside: http://127.0.0.2:9/x.png');
    expect(faults.join('\n')).to.include('uncaught: nothing is not defined');
  });

  it('sends the session cookie', async () => {
    const { context } = await visit(browser(), url, { session: 'abc' });
    const [cookie] = await context.cookies(url);
    expect(cookie).to.include({ name: 'session', value: 'abc', httpOnly: true });
  });
});

async function fails(act: () => Promise<void>): Promise<string> {
  try {
    await act();
  } catch (error) {
    return error instanceof AssertionError ? JSON.stringify(error) : '';
  }
  return '';
}
