import { AxeBuilder } from '@axe-core/playwright';
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type Locator,
  type Page,
} from 'playwright-core';
import { isLong } from './long.js';

const ARGS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** The headless shell alone takes half the processor time of a whole browser. */
const USUAL_PLACES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
].map((name) => `/usr/bin/${name}`);

/** Set, it must be there: a machine that promises a browser fails without one. */
const promised = process.env.TOLLGATE_TEST_BROWSER;
const executable = promised ?? USUAL_PLACES.find((path) => existsSync(path));
const worker_id = process.env.MOCHA_WORKER_ID;
/** Once is enough: neither for each file nor for each process of the tests. */
let isSaid = (worker_id ?? '0') !== '0';
/** One for all files of a process. A worker of mocha keeps it to its end, which ends it too. */
let shared: Browser | undefined;

/** What a visitor's browser is like. */
export interface BrowserLook {
  width?: number;
  height?: number;
  colorScheme?: 'light' | 'dark';
  javaScriptEnabled?: boolean;
  /** The cookie `session`, for somebody who is signed in already. */
  session?: string;
  /** Lets pages read and write the clipboard. */
  clipboard?: boolean;
}

/** One person at one browser, with what went wrong in it. */
export interface Visit {
  context: BrowserContext;
  page: Page;
  /** Errors of the console, uncaught ones, and requests that went outside. */
  faults: string[];
}

/**
 * As `describe`, with a browser that is there from before the first test to after the last. Pending
 * on a machine without one.
 */
export function describeInBrowser(title: string, body: (browser: () => Browser) => void): void {
  if (executable === undefined) {
    if (!isSaid)
      console.warn('No browser: apt-get install chromium-headless-shell fonts-liberation');
    isSaid = true;
    describe.skip(title, () => body(missing));
    return;
  }
  describe(title, () => {
    before(async () => {
      shared ??= await chromium.launch({ executablePath: executable, args: ARGS });
    });
    after(async () => {
      for (const context of shared?.contexts() ?? []) await context.close();
      if (worker_id !== undefined) return;
      await shared?.close();
      shared = undefined;
    });
    body(() => shared ?? missing());
  });
}

/** A browser of its own, as far as cookies go, that may talk to the site at `url` and no other. */
export async function visit(
  browser: Browser,
  url: string,
  { width = 1280, height = 900, clipboard, session, ...look }: BrowserLook = {},
): Promise<Visit> {
  const context = await browser.newContext({
    ...look,
    baseURL: url,
    viewport: { width, height },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  });
  if (clipboard) await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  if (session !== undefined) {
    await context.addCookies([{ name: 'session', value: session, url, httpOnly: true }]);
  }
  const page = await context.newPage();
  return { context, page, faults: watch(page, new URL(url).origin) };
}

/** Notes what no page of ours may do. A status of 4xx is noted by the browser, and is no fault. */
function watch(page: Page, origin: string): string[] {
  const faults: string[] = [];
  page.on('console', (message) => {
    const isStatus = message.text().startsWith('Failed to load resource: the server responded');
    if (message.type() === 'error' && !isStatus) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    const isOwn = url.origin === origin || ['data:', 'blob:'].includes(url.protocol);
    if (!isOwn) faults.push(`outside: ${request.url()}`);
  });
  return faults;
}

/** Clicks on what leads to another page, and waits for all of it: a click waits for its beginning. */
export async function follow(link: Locator): Promise<void> {
  await link.click();
  await link.page().waitForLoadState();
}

/** Further rows of a table, and closed operations of the reference: axe takes as long for each. */
const REPEATED = 'tbody tr:nth-child(n + 6), span:nth-child(n + 4) > .opblock:not(.is-open)';

/** Fails with each serious or critical fault that axe finds on the page, and where it stands. */
export async function expectAccessible(page: Page): Promise<void> {
  // There are no frames, for which alone the other mode would open a page of its own each time.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  const { violations } = await (isLong ? axe : axe.exclude(REPEATED)).analyze();
  const grave = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, any }) => `${id}: ${html} ${said(any)}`));
  expect(grave.join('\n')).to.equal('');
}

function said(checks: readonly { message: string }[]): string {
  return checks.map(({ message }) => message).join('; ');
}

/** Fails where the page is wider than its window. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const [content, window] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  );
  expect(content, `${page.url()} is wider than its window`).to.be.at.most(window);
}

function missing(): never {
  throw new Error('There is no browser.');
}
