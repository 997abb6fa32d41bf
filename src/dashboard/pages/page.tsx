import type { ComponentChildren, JSX } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { DashboardContext, Visitor } from '../types.js';
import { assetPath } from './assets.js';
import { Icon, Mark } from './icons.js';
import { navigation } from './navigation.js';
import { SuspendedNotice } from './suspended-notice.js';

export type Theme = 'light' | 'dark' | undefined;

export interface Page {
  title: string;
  /** One sentence under the title. */
  about?: ComponentChildren;
  /** Buttons beside the title. */
  actions?: ComponentChildren;
  /** The parent page. */
  above?: { path: string; name: string };
  /** The path that the menu marks, if it is not the page's own. */
  at?: string;
  /** Scripts beside the one that all pages have. */
  scripts?: readonly string[];
  /** Further styles and scripts. */
  head?: ComponentChildren;
  narrow?: boolean;
  body: ComponentChildren;
}

const STYLES = [
  'base.css',
  'parts.css',
  'layout.css',
  'forms.css',
  'data.css',
  'charts.css',
  'playground.css',
  'document.css',
];

/** Answers with a whole page. Without a visitor its menu has only the public pages. */
export function sendPage(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  page: Page,
  status = 200,
): void {
  send(ctx, <FramedPage {...{ ctx, visitor, page }} />, status);
}

/** The HTML of such a page. */
export function FramedPage(props: {
  ctx: Pick<DashboardContext, 'cookies' | 'path'>;
  visitor: Visitor | undefined;
  page: Page;
}): JSX.Element {
  const { ctx, visitor, page } = props;
  return (
    <Document title={page.title} theme={themeOf(ctx)} scripts={page.scripts ?? []} head={page.head}>
      <a class="button solid skip" href="#main">
        Skip to content
      </a>
      <div class="frame">
        <Sidebar at={page.at ?? ctx.path} visitor={visitor} />
        <main id="main" class={page.narrow ? 'page stack narrow' : 'page stack'} tabIndex={-1}>
          <Heading {...page} />
          {visitor?.session.suspended && <SuspendedNotice />}
          {page.body}
        </main>
      </div>
    </Document>
  );
}

/** Answers with a page of one card, for visitors without a session. */
export function sendLonePage(ctx: DashboardContext, title: string, body: ComponentChildren): void {
  send(ctx, <LonePage title={title} theme={themeOf(ctx)} body={body} />, 200);
}

/** The HTML of such a page. */
export function LonePage(props: {
  title: string;
  theme: Theme;
  body: ComponentChildren;
}): JSX.Element {
  return (
    <Document title={props.title} theme={props.theme} scripts={[]}>
      <main class="lone">
        <a class="brand" href="/">
          <Mark />
          Tollgate
        </a>
        <div class="card">{props.body}</div>
      </main>
    </Document>
  );
}

/** A document as text. */
export function html(document: JSX.Element): string {
  return `<!doctype html>\n${renderToString(document)}\n`;
}

/** The theme that the visitor chose in the settings; undefined means the system's. */
export function themeOf(ctx: Pick<DashboardContext, 'cookies'>): Theme {
  const theme = ctx.cookies.get('theme');
  return theme === 'light' || theme === 'dark' ? theme : undefined;
}

function send(ctx: DashboardContext, document: JSX.Element, status: number): void {
  ctx.status = status;
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = html(document);
}

function Document(props: {
  title: string;
  theme: Theme;
  scripts: readonly string[];
  head?: ComponentChildren;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <html lang="en" data-theme={props.theme}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={props.theme ?? 'light dark'} />
        <title>{`${props.title} · Tollgate`}</title>
        <link rel="icon" href={assetPath('icon.svg')} />
        {STYLES.map((name) => (
          <link rel="stylesheet" href={assetPath(name)} />
        ))}
        {['all.js', ...props.scripts].map((name) => (
          <script type="module" src={assetPath(name)} />
        ))}
        {props.head}
      </head>
      <body>{props.children}</body>
    </html>
  );
}

function Heading({ title, about, actions, above }: Page): JSX.Element {
  return (
    <header class="row apart">
      <div>
        {above && (
          <nav class="hint" aria-label="Above">
            <a href={above.path}>← {above.name}</a>
          </nav>
        )}
        <h1>{title}</h1>
        {about && <p class="soft">{about}</p>}
      </div>
      {actions && <div class="row">{actions}</div>}
    </header>
  );
}

function Sidebar({ at, visitor }: { at: string; visitor: Visitor | undefined }): JSX.Element {
  return (
    <header class="side">
      <a class="brand" href="/">
        <Mark />
        Tollgate
      </a>
      <button type="button" class="plain menu" popovertarget="menu">
        <Icon name="menu" />
        Menu
      </button>
      <nav aria-label="Main" id="menu" popover="auto">
        {navigation(visitor).map(({ heading, items }) => (
          <>
            {heading !== undefined && <h2>{heading}</h2>}
            {items.map(({ path, name, icon }) => (
              <a href={path} aria-current={path === at ? 'page' : undefined}>
                <Icon name={icon} />
                {name}
              </a>
            ))}
          </>
        ))}
      </nav>
      {visitor && <SignedInAs visitor={visitor} />}
    </header>
  );
}

function SignedInAs({ visitor: { session } }: { visitor: Visitor }): JSX.Element {
  const { account_name, email } = session;
  return (
    <div class="person">
      <div>
        <strong>{account_name}</strong>
        {email !== null && email !== account_name && <div class="hint">{email}</div>}
      </div>
      <form method="post" action="/sign-out">
        <button class="plain">
          <Icon name="out" />
          Sign out
        </button>
      </form>
    </div>
  );
}
