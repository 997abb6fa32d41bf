import { expect } from 'chai';
import {
  describeInBrowser,
  expectAccessible,
  expectNoSidewaysScroll,
  visit,
} from '../../helpers/browser.js';
import { LOOKS } from '../../helpers/looks.js';
import { startDashboard } from '../../helpers/dashboard.js';
import { until } from '../../helpers/until.js';
import { startOpenaiGateway, type OpenaiGateway } from '../../helpers/openai-gateway.js';

describe('the reference page', () => {
  let acme: OpenaiGateway;
  before(async () => {
    acme = await startOpenaiGateway();
  });
  after(() => acme.close());

  const files = async (): Promise<string[]> => {
    const html = await (await fetch(`${acme.url}/reference`)).text();
    return [...html.matchAll(/(?:src|href)="(\/reference\/[^"]+)"/gu)].map(([, path = '']) => path);
  };

  it('comes with all it needs, which may be kept for good', async () => {
    const page = await fetch(`${acme.url}/reference`);
    expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(await files()).to.have.length(3);
    for (const path of await files()) {
      const file = await fetch(acme.url + path);
      expect(file.status, path).to.equal(200);
      expect(file.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      expect(file.headers.get('x-content-type-options')).to.equal('nosniff');
      if (path.endsWith('.js')) {
        expect(file.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
      }
    }
  });

  it('styles itself inline, and alone does so', async () => {
    const policy = async (path: string): Promise<string | null> =>
      (await fetch(acme.url + path)).headers.get('content-security-policy');
    expect(await policy('/reference')).to.include("style-src 'self' 'unsafe-inline'");
    expect(await policy('/reference')).to.include("script-src 'self';");
    expect(await policy('/openapi.json')).not.to.include('unsafe-inline');
  });

  it('gives out no other file', async () => {
    const [one = ''] = await files();
    const folder = one.slice(0, one.lastIndexOf('/'));
    for (const path of [
      `${folder}/package.json`,
      `${folder}/..%2fpackage.json`,
      `${folder}/%2e%2e/package.json`,
      '/reference/0.0.0/swagger-ui.css',
      '/reference/constructor/toString',
    ]) {
      const { status } = await fetch(acme.url + path);
      expect(status, path).to.equal(404);
    }
  });

  describeInBrowser('in a browser', (browser) => {
    it('offers the models of who is signed in, those that can do it, and none to a stranger', async () => {
      const dashboard = await startDashboard();
      const session = await dashboard.signIn(dashboard.account.id);
      const { page, faults } = await visit(browser(), dashboard.url, { session });
      await page.goto('/reference');
      await page.click('#operations-Models-images .opblock-summary-control');
      const example = page.locator('#operations-Models-images .body-param__example');
      expect(await example.first().textContent()).to.include('"model": "gpt-image-1"');
      expect(await page.locator('.side').isVisible()).to.equal(true);
      const stranger = await (await fetch(`${dashboard.url}/reference`)).text();
      expect(stranger).not.to.include('gpt-image-1');
      expect(faults).to.deep.equal([]);
      await dashboard.close();
    });

    for (const look of LOOKS) {
      it(`shows all, ${look.width} pixels wide and ${look.colorScheme}`, async () => {
        const { context, page, faults } = await visit(browser(), acme.url, look);
        await page.goto('/reference');
        const { paths } = (await (await fetch(`${acme.url}/openapi.json`)).json()) as {
          paths: Record<string, object>;
        };
        const described = Object.values(paths).flatMap((path) => Object.keys(path));
        await until(
          async () => (await page.locator('.opblock').count()) === described.length,
          'all operations are there',
        );
        for (const id of ['Models-chat', 'Account-createKey', 'Account-getUsage']) {
          await page.click(`#operations-${id} .opblock-summary-control`);
          await page.waitForSelector(`#operations-${id} .opblock-body`);
        }
        await expectNoSidewaysScroll(page);
        await expectAccessible(page);
        expect(faults).to.deep.equal([]);
        await context.close();
      });
    }
  });
});
