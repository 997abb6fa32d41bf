import type { JSX } from 'preact';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../types.js';
import { isActive, shownKeys } from '../../actions/key-list.js';
import { usageRange } from '../../actions/usage-groups.js';
import { revokeKey } from '../../actions/key-revoke.js';
import { revokeRoutes } from './revoke-page.js';
import { CreditHint } from './credit-hint.js';
import { requireSession } from './guard.js';
import { Icon } from './icons.js';
import { sendPage } from './page.js';
import { KeyTable } from './key-table.js';
import { Card, Empty, Notice } from './parts.js';
import { pluralize } from './formatting.js';

/** The page that revokes one of the own keys. A key of another account is as a missing one. */
export function revokeKeyRoutes(services: DashboardServices): Route[] {
  return revokeRoutes(services, {
    noun: 'key',
    access: 'session',
    path: '/settings/keys/:revokedID/revoke',
    at: '/settings/keys',
    action: revokeKey,
    async find(_ctx, visitor) {
      const { account_id } = requireSession(visitor).session;
      return {
        all: await services.store.keys(account_id),
        above: { path: '/settings/keys', name: 'API Keys' },
        inputOf: (key_id) => ({ key_id, account_id }),
      };
    },
    unknown: 'You have no such key, or it has ended already.',
  });
}

/** The page with the keys of an account, their terms and usage. Never a secret. */
export function keysRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: '/settings/keys',
    access: 'session',
    answer: async (ctx, visitor) => {
      sendPage(ctx, visitor, {
        title: 'API Keys',
        about: 'Programs call the gateway with a key. Its secret is shown once, when it is made.',
        above: { path: '/settings', name: 'Settings' },
        ...(!requireSession(visitor).session.suspended && { actions: <CreateLink /> }),
        body: await keysBody(ctx, requireSession(visitor), services),
      });
    },
  };
}

function CreateLink(): JSX.Element {
  return (
    <a class="button solid" href="/settings/keys/new">
      <Icon name="plus" />
      Create API Key
    </a>
  );
}

async function keysBody(
  ctx: DashboardContext,
  visitor: Visitor,
  { store, now }: DashboardServices,
): Promise<JSX.Element> {
  const now_ms = now();
  const { account_id } = visitor.session;
  const [account, all, spent] = await Promise.all([
    store.account(account_id),
    store.keys(account_id),
    store.spend(account_id, usageRange({}, now_ms)),
  ]);
  const keys = shownKeys(all);
  const active = keys.filter((key) => isActive(key, now_ms));
  const ended = keys.filter((key) => !isActive(key, now_ms));
  return (
    <>
      {ctx.query.done === 'revoked' && (
        <Notice colour="good">The key is revoked. Calls with it are refused from now on.</Notice>
      )}
      <CreditHint account={account} visitor={visitor} />
      <Card flush>
        {active.length > 0 ? (
          <KeyTable path="/settings/keys" keys={active} spent={spent} now_ms={now_ms} />
        ) : (
          <Empty title="No active key">
            <p>Make one for each program, so that you can limit and revoke them one by one.</p>
            {!visitor.session.suspended && <CreateLink />}
          </Empty>
        )}
      </Card>
      {ended.length > 0 && (
        <details class="card ended">
          <summary>{pluralize(ended.length, 'key')} revoked or expired</summary>
          <KeyTable path="/settings/keys" keys={ended} spent={spent} now_ms={now_ms} />
        </details>
      )}
    </>
  );
}
