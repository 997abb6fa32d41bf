import { GatewayError } from '../../core/errors.js';
import { revokeKey } from '../../actions/key-revoke.js';
import { runAction } from '../action-context.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../types.js';
import { requireSession } from './guard.js';
import { sendPage } from './page.js';
import { Ago, Card } from './parts.js';
import { seeOther } from '../redirect.js';
import type { Key } from '../../store/keys/keys.js';

const PATH = '/settings/keys/:keyID/revoke';

/** The page that asks for confirmation and revokes a key. */
export function revokeRoutes(services: DashboardServices): Route[] {
  const { store, now } = services;
  return [
    {
      method: 'GET',
      path: PATH,
      access: 'session',
      answer: async (ctx, visitor) =>
        askToRevoke(ctx, visitor, await keyOf(ctx, visitor, store), OWN, now()),
    },
    {
      method: 'POST',
      path: PATH,
      access: 'session',
      answer: async (ctx, visitor) => {
        const { id, account_id } = await keyOf(ctx, visitor, store);
        await runAction(revokeKey, { key_id: id, account_id }, ctx, visitor, services);
        seeOther(ctx, '/settings/keys?done=revoked');
      },
    },
  ];
}

async function keyOf(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  store: DashboardServices['store'],
): Promise<Key> {
  const { session } = requireSession(visitor);
  const keys = await store.keys(session.account_id);
  const key = keys.find(({ id }) => id === ctx.params['keyID']);
  if (!key || key.revoked_ms !== null) throw noKey();
  return key;
}

/** A key of another account gets the same 404 as a missing key. */
function noKey(): GatewayError {
  return new GatewayError('not_found', 'You have no such key, or it is revoked already.');
}

/** The keys or tokens that a page revokes. */
export interface Keyring {
  noun: 'key' | 'token';
  /** The page that lists them. */
  above: { path: string; name: string };
  /** Below this path, and the ID of a key, is the page that revokes it. */
  path: string;
  /** The entry of the menu. */
  at: string;
}

const OWN: Keyring = {
  noun: 'key',
  above: { path: '/settings/keys', name: 'API Keys' },
  path: '/settings/keys',
  at: '/settings/keys',
};

/** The page that asks whether a key or a token is to be revoked. */
export function askToRevoke(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  key: Pick<Key, 'id' | 'name' | 'prefix' | 'last_used_ms'>,
  keyring: Keyring,
  now_ms: number,
): void {
  const { id, name, prefix, last_used_ms } = key;
  const { noun, above, path, at } = keyring;
  sendPage(ctx, visitor, {
    title: `Revoke “${name}”?`,
    above,
    at,
    narrow: true,
    body: (
      <Card>
        <div class="stack">
          <p>
            Calls with <code>{prefix}…</code> are refused from that moment on. In-flight calls are
            finished. This cannot be undone.
          </p>
          <p class="soft">
            {last_used_ms === null ? (
              'It was never used.'
            ) : (
              <>
                It was last used <Ago at_ms={last_used_ms} now_ms={now_ms} />.
              </>
            )}
          </p>
          <form class="row" method="post" action={`${path}/${encodeURIComponent(id)}/revoke`}>
            <button class="danger solid">Revoke {noun}</button>
            <a class="button" href={above.path}>
              Keep it
            </a>
          </form>
        </div>
      </Card>
    ),
  });
}
