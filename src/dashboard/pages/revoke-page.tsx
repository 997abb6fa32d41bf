import type { OneAction } from '../../actions/action.js';
import { isActive } from '../../actions/key-list.js';
import { GatewayError } from '../../core/errors.js';
import type { Key } from '../../store/keys/keys.js';
import { runAction } from '../action-context.js';
import { seeDone } from '../redirect.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../types.js';
import { sendPage } from './page.js';
import { Ago, Card } from './parts.js';

type Revocable = Pick<Key, 'id' | 'name' | 'prefix' | 'last_used_ms' | 'expires_ms' | 'revoked_ms'>;

/** The keys or tokens that a page revokes. */
interface Keyring<Input extends object> {
  noun: 'key' | 'token';
  access: 'session' | 'operator';
  /** The path of the page, whose last parameter is `:revokedID`. */
  path: string;
  /** The entry of the menu. */
  at: string;
  action: OneAction<Input>;
  /** The keys or tokens of which one is revoked. */
  find(
    this: void,
    ctx: DashboardContext,
    visitor: Visitor | undefined,
  ): Promise<{
    all: readonly Revocable[];
    /** The page that lists them. */
    above: { path: string; name: string };
    /** The input that revokes one. */
    inputOf(this: void, id: string): Input;
  }>;
  /** The message for an ID that is none of theirs. */
  unknown: string;
}

/** The page that asks whether to revoke a key or a token, and its form. */
export function revokeRoutes<Input extends object>(
  services: DashboardServices,
  keyring: Keyring<Input>,
): Route[] {
  const { noun, access, path, at, action, unknown, find } = keyring;
  const found = async (ctx: DashboardContext, visitor: Visitor | undefined) => {
    const { all, ...others } = await find(ctx, visitor);
    const one = all.find(({ id }) => id === ctx.params.revokedID);
    if (one && isActive(one, services.now())) return { ...others, one };
    throw new GatewayError('not_found', unknown);
  };
  return [
    {
      method: 'GET',
      path,
      access,
      async answer(ctx, visitor) {
        const { above, one } = await found(ctx, visitor);
        const { name, prefix, last_used_ms } = one;
        const body = (
          <Card>
            <p>
              Calls with <code>{prefix}…</code> are refused from that moment on. In-flight calls are
              finished. This cannot be undone.
            </p>
            <p class="soft">
              {last_used_ms === null ? (
                'It was never used.'
              ) : (
                <>
                  It was last used <Ago at_ms={last_used_ms} now_ms={services.now()} />.
                </>
              )}
            </p>
            <form class="row" method="post" action={ctx.path}>
              <button class="solid bad">Revoke {noun}</button>
              <a class="button" href={above.path}>
                Keep it
              </a>
            </form>
          </Card>
        );
        sendPage(ctx, visitor, { title: `Revoke “${name}”?`, above, at, narrow: true, body });
      },
    },
    {
      method: 'POST',
      path,
      access,
      async answer(ctx, visitor) {
        const { above, one, inputOf } = await found(ctx, visitor);
        await runAction(action, inputOf(one.id), ctx, visitor, services);
        seeDone(ctx, above.path, 'revoked');
      },
    },
  ];
}
