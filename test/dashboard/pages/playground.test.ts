import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { formatDollars } from '../../../src/lib/money.js';
import {
  describeInBrowser,
  expectAccessible,
  expectNoSidewaysScroll,
  visit,
} from '../../helpers/browser.js';
import { ROOT } from '../../helpers/documents.js';
import { startUpstream } from '../../helpers/upstream.js';
import { until } from '../../helpers/until.js';
import { DASHBOARD_YAML, startDashboard, type TestDashboard } from '../../helpers/dashboard.js';

const BILL =
  /^\d+ → \d+ tokens · [\d.]+ s to the first token · [\d.]+ s in all (?:· \d+ tokens\/s )?· \$0\.\d+$/u;

/** So many marks of emphasis in a paragraph would take the parser of Markdown seconds. */
const DENSE = 'a*_'.repeat(250);
const HOSTILE = `**bold** [good](https://example.com/) [bad](javascript:alert(1)) [data](data:text/html,x)

![picture](https://evil.example/x.png) <img src=x onerror=alert(1)> <script>alert(1)</script>

<iframe src="https://evil.example/"></iframe>

\`\`\`js
let a = "<b>";
\`\`\`

${DENSE}`;

function event(choice: object): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
}

function labYaml(url: string): string {
  return `
owners: { lab: { name: Lab } }
providers:
  lab: { uses: vllm, base_url: ${url}/v1 }
models:
  lab:
    owner: lab
    capabilities: [chat]
    upstreams: [{ provider: lab }]
    limits: { max_tokens: 1000, context: 8000 }
    price: free
`;
}

function addresses(links: unknown[]): [string, string][] {
  return (links as { href: string; rel: string }[]).map(({ href, rel }) => [href, rel]);
}

/** The width of an image once it is there to be seen. */
async function widthOf(element: unknown): Promise<number> {
  const image = element as { naturalWidth: number; decode: () => Promise<void> };
  await image.decode();
  return image.naturalWidth;
}

describeInBrowser('the playground', (browser) => {
  let dashboard: TestDashboard;

  before(async () => {
    dashboard = await startDashboard();
  });
  after(() => dashboard.close());

  async function open(credit = '10'): Promise<{ page: Page; id: string; faults: string[] }> {
    const name = `player-${Math.random()}`;
    const account = await dashboard.gateway.store.createAccount(name, BigInt(credit) * 10n ** 9n);
    const session = await dashboard.signIn(account.id);
    const { page, faults } = await visit(browser(), dashboard.url, { session });
    await page.goto('/playground');
    return { page, id: account.id, faults };
  }

  async function say(page: Page, text: string): Promise<void> {
    await page.getByLabel('Prompt', { exact: true }).fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  }

  /** What the account was charged, as the page says it. */
  async function charge(id: string): Promise<string> {
    const entries = await dashboard.gateway.store.ledger(id, { after: 0, limit: 100 });
    const charged = entries.filter(({ kind }) => kind === 'charge');
    return `$${formatDollars(-charged.reduce((sum, { amount_nano }) => sum + amount_nano, 0n))}`;
  }

  it('streams a chat, and tells what it cost', async () => {
    const { page, id, faults } = await open();
    await say(page, 'Tell me about toll gates.');
    const bill = page.locator('.turn .bill');
    await bill.waitFor();
    const answer = page.locator('.turn:not(.mine) .words');
    expect((await answer.textContent())?.length).to.be.greaterThan(10);
    expect(await bill.textContent()).to.match(BILL);
    expect(await bill.textContent()).to.include(await charge(id));
    await page.getByLabel('Prompt', { exact: true }).fill('And then?');
    await page.keyboard.press('Enter');
    await bill.nth(1).waitFor();
    expect(await page.textContent('#total')).to.equal(`${await charge(id)} spent on this page.`);
    await expectAccessible(page);
    expect(faults).to.deep.equal([]);
  });

  it('shows an image, and tells what it cost', async () => {
    const { page, id, faults } = await open();
    await page.getByLabel('Model', { exact: true }).selectOption('gpt-image-1');
    await page.getByLabel('Quality').selectOption('hd');
    await say(page, 'A toll gate');
    await page.locator('.turn .bill').waitFor();
    const image = page.locator('.turn img');
    expect(await image.evaluate(widthOf)).to.be.greaterThan(0);
    expect(await charge(id)).to.equal('$0.08');
    expect(await page.textContent('.turn .bill')).to.match(/^[\d.]+ s · \$0\.08$/u);
    expect(faults).to.deep.equal([]);
  });

  it('makes a video, tells how far it is, plays it, and tells what it cost', async () => {
    const { page, id, faults } = await open();
    await page.getByLabel('Model', { exact: true }).selectOption('google/veo-3.1');
    await page.getByLabel('Seconds').fill('2');
    await page.getByLabel('With sound').uncheck();
    // It goes again by itself, so the wait for it begins before it comes.
    await Promise.all([page.locator('.turn progress').waitFor(), say(page, 'Waves')]);
    await page.locator('.turn .bill').waitFor();
    expect(await page.locator('.turn progress').count()).to.equal(0);
    const player = page.locator('.turn video');
    expect(await player.getAttribute('src')).to.match(/^blob:/u);
    expect(await page.textContent('.turn .bill')).to.match(
      /^2 s of video · made in .* · \$0\.40$/u,
    );
    expect(await charge(id)).to.equal('$0.40');
    expect(faults).to.deep.equal([]);
  });

  it('ends its key with the page', async () => {
    const { page, id } = await open();
    await say(page, 'Hello');
    await page.locator('.turn .bill').waitFor();
    const [key] = await dashboard.gateway.store.keys(id);
    expect(key).to.include({ name: 'Playground', revoked_ms: null });
    await page.goto('/usage');
    await until(async () => {
      const [ended] = await dashboard.gateway.store.keys(id);
      return ended?.revoked_ms !== null;
    }, 'the key is revoked');
    expect(await page.evaluate('[localStorage.length, sessionStorage.length]')).to.deep.equal([
      0, 0,
    ]);
  });

  it('says how to get credit to who has none, and to nobody else', async () => {
    const { page } = await open('0');
    expect(await page.textContent('.notice.warn')).to.include('You have no credit.');
    const { page: other } = await open('1');
    expect(await other.locator('.notice.warn').count()).to.equal(0);
  });

  it('says why a call was refused', async () => {
    const { page } = await open('0');
    await say(page, 'Hello');
    expect(await page.locator('.turn [role=alert]').textContent()).to.include('balance');
    await page.getByRole('button', { name: 'Send', disabled: false }).waitFor();
  });

  it('stops an answer under way', async () => {
    const slow = DASHBOARD_YAML.replace('tokens_per_second: 2000', 'tokens_per_second: 2');
    const other = await startDashboard({}, slow);
    const session = await other.signIn(other.account.id);
    const { page, faults } = await visit(browser(), other.url, { session });
    await page.goto('/playground');
    await say(page, 'Talk slowly');
    await page.locator('.turn:not(.mine) .words:not(:empty)').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    expect(await page.locator('.turn [role=alert]').textContent()).to.equal('Stopped.');
    expect(faults).to.deep.equal([]);
    await other.close();
  });

  it('makes as many images of that size as are asked for', async () => {
    const { page, id, faults } = await open();
    await page.getByLabel('Model', { exact: true }).selectOption('gpt-image-1');
    await page.getByLabel('Size').selectOption('1536x1024');
    await page.locator('#n').fill('2');
    await say(page, 'A toll gate');
    await page.locator('.turn .bill').waitFor();
    const images = await page.locator('.turn img').all();
    const widths = await Promise.all(images.map((image) => image.evaluate(widthOf)));
    expect(widths).to.deep.equal([1536, 1536]);
    expect(await charge(id)).to.equal('$0.08');
    expect(faults).to.deep.equal([]);
  });

  it('asks two models at once, shows each answer, and adds up what both cost', async () => {
    const { page, id, faults } = await open();
    await page.getByLabel('Compare with').selectOption('claude-sonnet-4-5');
    await say(page, 'Hello');
    await page.locator('.halves .bill').nth(1).waitFor();
    expect(await page.locator('.halves h3').allTextContents()).to.deep.equal([
      'gpt-4o-mini',
      'claude-sonnet-4-5',
    ]);
    expect(await page.textContent('#total')).to.equal(`${await charge(id)} spent on this page.`);
    await page.setViewportSize({ width: 390, height: 800 });
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    expect(faults).to.deep.equal([]);
  });

  it('offers only models of the same kind to compare with', async () => {
    const { page } = await open();
    await page.getByLabel('Model', { exact: true }).selectOption('gpt-image-1');
    const others = await page.locator('#other option').allTextContents();
    expect(others).to.deep.equal(['no other model', 'gpt-image-1']);
  });

  it('sends an image and the options of the form, and shows the call as a program', async () => {
    const { page, faults } = await open();
    await page.getByLabel('Temperature').fill('0.3');
    await page.getByLabel('Max output tokens').fill('40');
    await page.getByLabel('System prompt').fill("Don't shout.");
    await page.locator('#images').setInputFiles(`${ROOT}docs/images/overview.png`);
    await page.getByRole('button', { name: 'Remove image 1' }).waitFor();
    const [sent] = await Promise.all([
      page.waitForRequest('**/v1/chat/completions'),
      say(page, 'What is this?'),
    ]);
    expect(sent.postDataJSON()).to.deep.include({ temperature: 0.3, max_tokens: 40 });
    const { messages } = sent.postDataJSON() as { messages: { content: unknown }[] };
    expect(JSON.stringify(messages[1]?.content)).to.include('data:image/png;base64,');
    await page.locator('.turn .bill').waitFor();
    expect(await page.locator('.turn.mine img').evaluate(widthOf)).to.be.greaterThan(0);
    await page.getByText('Code for this call').click();
    const code = page.getByRole('region', { name: 'Code for gpt-4o-mini' });
    // As a shell takes an apostrophe within single quotes.
    expect(await code.textContent()).to.include("Don'\\''t shout.");
    await page.getByRole('button', { name: 'Python' }).click();
    expect(await code.textContent()).to.include('temperature=0.3,');
    await expectAccessible(page);
    expect(faults).to.deep.equal([]);
  });

  it('offers no image to a model that sees none', async () => {
    const { page } = await open();
    expect(await page.getByText('Add image').isVisible()).to.equal(true);
    await page.getByLabel('Model', { exact: true }).selectOption('llama-3.3-70b');
    expect(await page.getByText('Add image').isVisible()).to.equal(false);
  });

  it('shows an answer as Markdown, HTML in it as text, and links to the web only', async () => {
    const chunks = HOSTILE.match(/[^]{1,7}/gu)?.map((content) => event({ delta: { content } }));
    const upstream = await startUpstream({
      headers: { 'content-type': 'text/event-stream' },
      chunks: [...(chunks ?? []), event({ delta: {}, finish_reason: 'stop' }), 'data: [DONE]\n\n'],
    });
    const other = await startDashboard({}, labYaml(upstream.url));
    const session = await other.signIn(other.account.id);
    const look = { session, clipboard: true };
    const { page, faults } = await visit(browser(), other.url, look);
    await page.goto('/playground');
    await say(page, 'Hello');
    await page.locator('.turn .bill').waitFor();
    const words = page.locator('.turn:not(.mine) .words');
    expect(await words.locator('strong').textContent()).to.equal('bold');
    expect(await words.locator('pre').textContent()).to.equal('let a = "<b>";');
    expect(await words.locator('img, script, b, iframe').count()).to.equal(0);
    expect(await words.textContent()).to.include('<img src=x onerror=alert(1)>');
    expect(await words.textContent()).to.include(DENSE);
    expect(await words.locator('em').count()).to.equal(0);
    const links = await words.locator('a').evaluateAll(addresses);
    expect(links).to.deep.equal([
      ['https://example.com/', 'noopener noreferrer nofollow'],
      ['https://evil.example/x.png', 'noopener noreferrer nofollow'],
    ]);
    await Promise.all([
      page.getByText('Copied', { exact: true }).waitFor(),
      page.getByRole('button', { name: 'Copy the answer of lab' }).click(),
    ]);
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(HOSTILE);
    await expectAccessible(page);
    expect(faults).to.deep.equal([]);
    await other.close();
    await upstream.close();
  });
});
