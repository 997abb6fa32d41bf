import { expect } from 'chai';
import { describeInBrowser, visit } from '../../helpers/browser.js';
import { DASHBOARD_YAML, startDashboard, type TestDashboard } from '../../helpers/dashboard.js';

const MANY = 500;
const PAGE = 50;

/** One model of the yaml more often than anybody reads at once. */
function manyModels(): string {
  const models = Array.from({ length: MANY }, (_, at) => {
    const model = `{ owner: meta, capabilities: [chat], upstreams: [{ provider: simulator }], price: free }`;
    return `  many-${String(at).padStart(3, '0')}: ${model}\n`;
  });
  return DASHBOARD_YAML + models.join('');
}

describe('the page of models', () => {
  let dashboard: TestDashboard;
  let session: string;

  before(async () => {
    dashboard = await startDashboard({}, manyModels());
    session = await dashboard.signIn(dashboard.account.id);
  });
  after(() => dashboard.close());

  async function get(path: string, as = session): Promise<{ status: number; html: string }> {
    const headers = { cookie: `session=${as}`, accept: 'text/html' };
    const answer = await fetch(dashboard.url + path, { headers });
    return { status: answer.status, html: await answer.text() };
  }

  function idsIn(html: string): string[] {
    return [...html.matchAll(/href="\/models\/([^"]+)"/gu)].map(([, id = '']) => id);
  }

  it(`shows ${PAGE} of ${MANY} models at a time, each of them on one page`, async () => {
    const seen: string[] = [];
    let path: string | undefined = '/models';
    while (path !== undefined) {
      const { html } = await get(path);
      expect(html.length).to.be.lessThan(60_000);
      const ids = idsIn(html);
      expect(ids.length).to.be.at.most(PAGE);
      seen.push(...ids);
      const next = /href="([^"]+)">Next page</u.exec(html)?.[1];
      path = next?.replaceAll('&amp;', '&');
    }
    expect(seen).to.have.length(MANY + 6);
    expect(new Set(seen).size).to.equal(seen.length);
  });

  it('finds models by words of the ID and of the owner, in any order and case', async () => {
    expect(idsIn((await get('/models?q=Mini+openai')).html)).to.deep.equal(['gpt-4o-mini']);
    expect(idsIn((await get('/models?q=many-49')).html)).to.have.length(10);
    expect((await get('/models?q=nothing-like-it')).html).to.include('No such model');
  });

  it('filters by capability and owner', async () => {
    expect(idsIn((await get('/models?can=image')).html)).to.deep.equal(['gpt-image-1']);
    expect(idsIn((await get('/models?can=chat&owner=google')).html)).to.deep.equal([
      'gemini-2.5-flash',
    ]);
    expect(idsIn((await get('/models?can=constructor')).html)).to.deep.equal([]);
  });

  it('takes any query for a page', async () => {
    for (const query of ['from=-1', 'from=1e9', 'from=x', 'q=a&q=b', `q=${'x'.repeat(5000)}`]) {
      expect((await get(`/models?${query}`)).status, query.slice(0, 20)).to.equal(200);
    }
  });

  it('has a page for each model, also for an ID with a slash', async () => {
    const { html } = await get('/models/google/veo-3.1');
    expect(html).to.include('<h1>google/veo-3.1</h1>').and.to.include('4k, with sound');
    expect(html).to.include('href="/playground?model=google%2Fveo-3.1"');
    expect((await get('/models/nothing')).status).to.equal(404);
    expect((await get('/models/constructor')).status).to.equal(404);
  });

  it('shows the upstreams of a model to operators only', async () => {
    expect((await get('/models/gpt-4o-mini')).html).not.to.include('simulator');
    const operator = await dashboard.signIn(dashboard.account.id, true);
    expect((await get('/models/gpt-4o-mini', operator)).html).to.include('simulator');
  });

  describeInBrowser('in a browser', (browser) => {
    it('is searched without scripts, and leads to a model', async () => {
      const look = { session, javaScriptEnabled: false };
      const { page, faults } = await visit(browser(), dashboard.url, look);
      await page.goto('/models');
      await page.getByLabel('Search').fill('sonnet');
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByRole('link', { name: 'claude-sonnet-4-5' }).click();
      expect(await page.textContent('h1')).to.equal('claude-sonnet-4-5');
      await page.getByText('Python', { exact: true }).click();
      await page.getByRole('region', { name: 'Python for claude-sonnet-4-5' }).waitFor();
      expect(faults).to.deep.equal([]);
    });
  });
});
