import type { JSX } from 'preact';
import type { DashboardContext, DashboardServices, Route } from '../types.js';
import { isActive, shownKeys } from '../views/keys.js';
import { usageRange } from '../views/usage.js';
import { signedIn } from './guard.js';
import { Icon } from './icons.js';
import { sendPage } from './page.js';
import { KeyTable, spentByKey } from './key-table.js';
import { Card, Empty, Notice } from './parts.js';
import { counted } from './words.js';

/** The page with the keys of an account, their terms and usage. Never a secret. */
export function keysRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: '/settings/keys',
    who: 'visitor',
    answer: async (ctx, visitor) => {
      const { session } = signedIn(visitor);
      sendPage(ctx, visitor, {
        title: 'API Keys',
        about: 'Programs call the gateway with a key. Its secret is shown once, when it is made.',
        above: { path: '/settings', name: 'Settings' },
        actions: <CreateLink />,
        body: await keysBody(ctx, session.account_id, services),
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
  account_id: string,
  { store, now }: DashboardServices,
): Promise<JSX.Element> {
  const now_ms = now();
  const [all, usage] = await Promise.all([
    store.keys(account_id),
    store.usage(account_id, usageRange({}, now_ms)),
  ]);
  const keys = shownKeys(all);
  const active = keys.filter((key) => isActive(key, now_ms));
  const ended = keys.filter((key) => !isActive(key, now_ms));
  const spent = spentByKey(usage);
  return (
    <>
      {ctx.query['done'] === 'revoked' && (
        <Notice mood="good">The key is revoked. Calls with it are refused from now on.</Notice>
      )}
      <Card flush>
        {active.length > 0 ? (
          <KeyTable keys={active} spent={spent} now_ms={now_ms} />
        ) : (
          <Empty title="No active key">
            <p>Make one for each program, so that you can limit and revoke them one by one.</p>
            <CreateLink />
          </Empty>
        )}
      </Card>
      {ended.length > 0 && (
        <details class="card ended">
          <summary>{counted(ended.length, 'key')} revoked or expired</summary>
          <KeyTable keys={ended} spent={spent} now_ms={now_ms} />
        </details>
      )}
    </>
  );
}
