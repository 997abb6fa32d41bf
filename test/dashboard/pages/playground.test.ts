import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { formatDollars } from '../../../src/lib/money.js';
import { describeInBrowser, expectAccessible, visit } from '../../helpers/browser.js';
import { until } from '../../helpers/until.js';
import { DASHBOARD_YAML, startDashboard, type TestDashboard } from '../../helpers/dashboard.js';

function widthOf(image: unknown): number {
  return (image as { naturalWidth: number }).naturalWidth;
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
    await page.getByLabel('Prompt').fill(text);
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
    expect(await bill.textContent()).to.match(/^\d+ → \d+ tokens · \$0\.\d+$/u);
    expect(await bill.textContent()).to.include(await charge(id));
    await page.getByLabel('Prompt').fill('And then?');
    await page.keyboard.press('Enter');
    await bill.nth(1).waitFor();
    expect(await page.textContent('#total')).to.equal(`${await charge(id)} spent on this page.`);
    await expectAccessible(page);
    expect(faults).to.deep.equal([]);
  });

  it('shows an image, and tells what it cost', async () => {
    const { page, id, faults } = await open();
    await page.getByLabel('Model').selectOption('gpt-image-1');
    await page.getByLabel('Quality').selectOption('hd');
    await say(page, 'A toll gate');
    await page.locator('.turn .bill').waitFor();
    const image = page.locator('.turn img');
    expect(await image.evaluate(widthOf)).to.be.greaterThan(0);
    expect(await charge(id)).to.equal('$0.08');
    expect(await page.textContent('.turn .bill')).to.equal('$0.08');
    expect(faults).to.deep.equal([]);
  });

  it('makes a video, tells how far it is, plays it, and tells what it cost', async () => {
    const { page, id, faults } = await open();
    await page.getByLabel('Model').selectOption('google/veo-3.1');
    await page.getByLabel('Seconds').fill('2');
    await page.getByLabel('With sound').uncheck();
    await say(page, 'Waves');
    await page.locator('.turn progress').waitFor();
    await page.locator('.turn .bill').waitFor();
    expect(await page.locator('.turn progress').count()).to.equal(0);
    const player = page.locator('.turn video');
    expect(await player.getAttribute('src')).to.match(/^blob:/u);
    expect(await page.textContent('.turn .bill')).to.equal('2 s of video · $0.40');
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

  it('says why a call was refused', async () => {
    const { page } = await open('0');
    await say(page, 'Hello');
    expect(await page.locator('.turn [role=alert]').textContent()).to.include('balance');
    await page.getByRole('button', { name: 'Send' }).isEnabled();
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
});
