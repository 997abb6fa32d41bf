import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { documentOf, render } from '../../../src/dashboard/pages/documents.js';
import {
  describeInBrowser,
  expectAccessible,
  expectNoSidewaysScroll,
  visit,
} from '../../helpers/browser.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import { isLong } from '../../helpers/long.js';
import { LOOKS } from '../../helpers/looks.js';

const NAMES = readdirSync(new URL('../../../docs', import.meta.url))
  .filter((file) => file.endsWith('.md') && file !== 'README.md')
  .map((file) => file.slice(0, -'.md'.length));
/** They have between them what any page has; axe takes seconds for a long one. */
const VARIED = ['/docs', '/docs/quick-start', '/docs/logging', '/docs/dashboard'];
const PATHS = ['/docs', ...NAMES.map((name) => `/docs/${name}`)];

describe('a document', () => {
  it('has the addresses that a host of repositories gives to its headings', () => {
    const { title, html, sections } = render(
      '# A *title*\n\n## What `x` is, and why?\n\n## Twice\n\n### Twice\n\nText.\n',
    );
    expect(title).to.equal('A title');
    expect(html).not.to.include('<h1');
    expect(sections).to.deep.equal([
      { id: 'what-x-is-and-why', text: 'What x is, and why?' },
      { id: 'twice', text: 'Twice' },
    ]);
    expect(html).to.include('<h3 id="twice-1">');
  });

  it('leads to other documents, and to nothing else of this site', () => {
    const href = (link: string): string | undefined =>
      /href="([^"]*)"/u.exec(render(`# T\n\n[x](${link})\n`).html)?.[1];
    expect(href('money.md')).to.equal('/docs/money');
    expect(href('money.md#a-client-leaves')).to.equal('/docs/money#a-client-leaves');
    expect(href('README.md')).to.equal('/docs');
    expect(href('#here')).to.equal('#here');
    expect(href('https://example.org/?a=1&b="2"')).to.match(/^https:\/\/example\.org\//u);
    for (const link of ['../LICENSE', '/settings', 'http://a.example', 'javascript:alert(1)']) {
      expect(href(link), link).to.equal(undefined);
    }
  });

  it('has no HTML of its own', () => {
    const { html } = render(
      '# T\n\n<script>x</script>\n\na <b onclick="x">b</b> `<i>`\n\n```\n<u>\n```\n\n' +
        '<!-- a -->\n\n![<a>](images/x.png) ![y](https://a.example/y.png)\n',
    );
    expect(html).not.to.match(/<(?:script|b|i|u|a)[ >]|<!--|a\.example/u);
    expect(html).to.include('<code>&lt;i&gt;</code>').and.include('<code>&lt;u&gt;</code>');
    expect(html).to.include('src="/docs/images/x.png" alt="&lt;a&gt;"');
  });

  it('is rendered once', () => {
    expect(documentOf('money')).to.equal(documentOf('money'));
    for (const name of ['../README', 'nothing', 'README.md', 'images', 'constructor', '']) {
      expect(documentOf(name), name).to.equal(undefined);
    }
  });
});

describe('the pages of the documentation', () => {
  let dashboard: TestDashboard;
  before(async () => {
    dashboard = await startDashboard();
  });
  after(() => dashboard.close());

  it('are for everybody, and run no script of their own', async () => {
    for (const path of PATHS) {
      const answer = await fetch(dashboard.url + path, { redirect: 'manual' });
      expect(answer.status, path).to.equal(200);
      const policy = answer.headers.get('content-security-policy');
      expect(policy).to.include("script-src 'self'").and.not.include('unsafe-inline');
      const text = await answer.text();
      expect(text).not.to.match(/<script(?! type="module" src="\/assets\/)/u);
      expect(text).to.include('href="/sign-in"').and.not.include('href="/settings"');
    }
    for (const path of [
      '/docs/README',
      '/docs/nothing',
      '/docs/..%2fREADME',
      '/docs/images/x.png',
    ]) {
      expect((await fetch(dashboard.url + path)).status, path).to.equal(404);
    }
  });

  it('have the whole menu for visitors who are signed in', async () => {
    const session = await dashboard.signIn(dashboard.account.id);
    const headers = { cookie: `session=${session}` };
    const text = await (await fetch(`${dashboard.url}/docs/money`, { headers })).text();
    expect(text).to.include('href="/settings"').and.not.include('href="/sign-in"');
    expect(text).to.match(/href="\/docs" aria-current="page"/u);
  });

  it('lead to each other, to headings that are there, and to images', async () => {
    const text = async (path: string): Promise<string> =>
      (await fetch(dashboard.url + path)).text();
    const pages = new Map(
      await Promise.all(PATHS.map(async (path) => [path, await text(path)] as const)),
    );
    for (const [path, page] of pages) {
      const [, article = ''] = /<article>(.*)<\/article>/su.exec(page) ?? [];
      for (const [, href = ''] of article.matchAll(/href="((?:#|\/)[^"]*)"/gu)) {
        const [to = '', id] = href.split('#');
        const target = pages.get(to || path) ?? '';
        expect(target, `${path} to ${href}`).to.include(id === undefined ? '<h1>' : `id="${id}"`);
      }
      for (const [, src = ''] of article.matchAll(/src="([^"]*)"/gu)) {
        const image = await fetch(dashboard.url + src);
        expect(image.headers.get('content-type'), src).to.equal('image/png');
        expect((await image.arrayBuffer()).byteLength, src).to.be.above(1000);
      }
    }
  });

  describeInBrowser('in a browser', (browser) => {
    for (const look of LOOKS) {
      it(`can be read by all, ${look.colorScheme} at ${look.width} pixels`, async () => {
        const { context, page, faults } = await visit(browser(), dashboard.url, look);
        for (const path of PATHS) {
          await page.goto(path);
          expect(await page.locator('main h1').count(), path).to.equal(1);
          await expectNoSidewaysScroll(page);
          if (isLong || VARIED.includes(path)) await expectAccessible(page);
          expect(faults, path).to.deep.equal([]);
        }
        await context.close();
      }).timeout(600_000);
    }
  });
});
