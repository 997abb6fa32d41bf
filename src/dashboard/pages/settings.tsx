import type { JSX } from 'preact';
import { GatewayError } from '../../core/errors.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../types.js';
import { readForm, textOf } from './form.js';
import { requireSession } from './guard.js';
import { sendPage, themeOf, type Theme } from './page.js';
import { Ago, Badge, Card, Notice } from './parts.js';
import { seeOther } from '../redirect.js';

const YEAR_MS = 365 * 86_400_000;
const THEMES = { system: 'As the system', light: 'Light', dark: 'Dark' };

/** The page of settings: the account, the theme, and signing out. */
export function settingsRoutes(services: DashboardServices): Route[] {
  const isSecure = services.configuration.public_url.startsWith('https:');
  return [
    {
      method: 'GET',
      path: '/settings',
      access: 'session',
      answer: (ctx, visitor) => showSettings(ctx, requireSession(visitor), services),
    },
    {
      method: 'POST',
      path: '/settings/theme',
      access: 'session',
      answer: (ctx) => chooseTheme(ctx, isSecure),
    },
  ];
}

async function chooseTheme(ctx: DashboardContext, isSecure: boolean): Promise<void> {
  const theme = textOf(await readForm(ctx), 'theme');
  if (!Object.hasOwn(THEMES, theme)) {
    throw new GatewayError('invalid_request', 'theme must be system, light or dark.', {
      param: 'theme',
    });
  }
  const isChosen = theme !== 'system';
  // Koa refuses secure cookies behind a proxy that speaks plain HTTP, so the header is set here.
  const parts = [
    `theme=${isChosen ? theme : ''}`,
    'Path=/',
    `Max-Age=${isChosen ? YEAR_MS / 1000 : 0}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(isSecure ? ['Secure'] : []),
  ];
  ctx.append('set-cookie', parts.join('; '));
  seeOther(ctx, '/settings?saved=theme');
}

function showSettings(
  ctx: DashboardContext,
  visitor: Visitor,
  { configuration, now }: DashboardServices,
): void {
  sendPage(ctx, visitor, {
    title: 'Settings',
    narrow: true,
    body: (
      <>
        {ctx.query.saved === 'theme' && <Notice colour="good">The theme is saved.</Notice>}
        <Card title="Account">
          <Account visitor={visitor} />
        </Card>
        <Card
          title="API Keys"
          about="Programs call the gateway with a key."
          actions={
            <a class="button" href="/settings/keys">
              Manage API Keys
            </a>
          }
        >
          <p class="soft">
            Give each program that calls <code>{configuration.public_url}/v1</code> its own key.
            Then you can limit, watch and revoke it on its own.
          </p>
        </Card>
        <Card title="Theme" about="Kept in a cookie of this browser.">
          <ThemeForm theme={themeOf(ctx)} />
        </Card>
        <Card title="Session">
          <Session visitor={visitor} now_ms={now()} />
        </Card>
      </>
    ),
  });
}

function Account({ visitor: { session, operator } }: { visitor: Visitor }): JSX.Element {
  return (
    <dl class="facts">
      <dt>Name</dt>
      <dd>
        {session.account_name} {operator && <Badge>Operator</Badge>}
      </dd>
      {session.email !== null && (
        <>
          <dt>Address</dt>
          <dd>{session.email}</dd>
        </>
      )}
      <dt>Account ID</dt>
      <dd>
        <code>{session.account_id}</code>
      </dd>
    </dl>
  );
}

function ThemeForm({ theme = 'system' }: { theme: Theme | 'system' }): JSX.Element {
  return (
    <form class="row" method="post" action="/settings/theme">
      <fieldset class="segments">
        <legend class="unseen">Theme</legend>
        {Object.entries(THEMES).map(([value, name]) => (
          <label>
            <input type="radio" name="theme" value={value} checked={value === theme} />
            {name}
          </label>
        ))}
      </fieldset>
      <button>Save</button>
    </form>
  );
}

function Session({ visitor, now_ms }: { visitor: Visitor; now_ms: number }): JSX.Element {
  const { session } = visitor;
  return (
    <div class="stack">
      <dl class="facts">
        <dt>Signed in by</dt>
        <dd>{session.via === 'link' ? 'a sign-in link' : session.via}</dd>
        <dt>Since</dt>
        <dd>
          <Ago at_ms={session.created_ms} now_ms={now_ms} />
        </dd>
      </dl>
      <div class="row">
        <form method="post" action="/sign-out">
          <button>Sign out</button>
        </form>
        <form method="post" action="/sign-out/everywhere">
          <button class="bad">Sign out everywhere</button>
        </form>
      </div>
      <p class="hint">Everywhere ends every session of this account, on all browsers, at once.</p>
    </div>
  );
}
