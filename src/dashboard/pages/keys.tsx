import type { JSX } from 'preact';
import { actionCaller } from '../action-context.js';
import { sendListCsv, wantsCsv } from '../csv-answer.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../types.js';
import { accountOfId } from '../../actions/action.js';
import { listKeys, shownKeys } from '../../actions/key-list.js';
import { withAllowances, withOwnAllowances } from '../../actions/limit-terms.js';
import { usageRange } from '../../actions/usage-groups.js';
import { revokeKey } from '../../actions/key-revoke.js';
import { revokeRoutes } from './revoke-page.js';
import { CreditHint } from './credit-hint.js';
import { requireSession } from './guard.js';
import { Icon } from './icons.js';
import { sendPage } from './page.js';
import { editKeyRoutes } from './key-edit.js';
import { keyColumns } from './key-table.js';
import { KeyringList } from './keyring-list.js';
import { hasLimits, LimitsCard } from './limits.js';
import { Empty, Notice } from './parts.js';

const PATH = '/settings/keys';

const ABOVE = { path: PATH, name: 'API Keys' };

/** The pages that change one of the own keys. A key of another account is as a missing one. */
export function changeKeyRoutes(services: DashboardServices): Route[] {
  const accountOf = (visitor: Visitor | undefined) => requireSession(visitor).session.account_id;
  return [
    ...editKeyRoutes(services, {
      access: 'session',
      path: PATH,
      at: PATH,
      find: async (_ctx, visitor) => ({ account_id: accountOf(visitor), above: ABOVE }),
    }),
    ...revokeRoutes(services, {
      noun: 'key',
      access: 'session',
      path: `${PATH}/:revokedID/revoke`,
      at: PATH,
      action: revokeKey,
      async find(_ctx, visitor) {
        const account_id = accountOf(visitor);
        return {
          all: await services.store.keys(account_id),
          above: ABOVE,
          inputOf: (key_id) => ({ key_id, account_id }),
        };
      },
      unknown: 'You have no such key, or it has ended already.',
    }),
  ];
}

/** The page with the keys of an account, their terms and usage. Never a secret. */
export function keysRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: PATH,
    access: 'session',
    answer: async (ctx, visitor) => {
      if (wantsCsv(ctx)) {
        const { account_id } = requireSession(visitor).session;
        return sendListCsv(listKeys, { account_id }, actionCaller(ctx, visitor), ctx, services);
      }
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
    <a class="button solid" href={`${PATH}/new`}>
      <Icon name="plus" />
      Create API Key
    </a>
  );
}

const SHARED = 'All keys of your account share them. An operator can change them.';

async function keysBody(
  ctx: DashboardContext,
  visitor: Visitor,
  { store, now }: DashboardServices,
): Promise<JSX.Element> {
  const now_ms = now();
  const { account_id } = visitor.session;
  const [account, all, spent] = await Promise.all([
    accountOfId(store, account_id).then((found) => withOwnAllowances(store, 'account', found)),
    store.keys(account_id).then((found) => withAllowances(store, 'key', shownKeys(found))),
    store.spend(account_id, usageRange({}, now_ms)),
  ]);
  return (
    <>
      {ctx.query.done === 'revoked' && (
        <Notice colour="good">The key is revoked. Calls with it are refused from now on.</Notice>
      )}
      {ctx.query.done === 'edited' && (
        <Notice colour="good">The key is changed, for every call from now on.</Notice>
      )}
      <CreditHint account={account} visitor={visitor} />
      {hasLimits(account) && <LimitsCard of={account} now_ms={now_ms} about={SHARED} />}
      <KeyringList
        label="API Keys"
        noun="key"
        rows={all}
        columns={keyColumns({ spent, now_ms, path: PATH })}
        empty={
          <Empty title="No active key">
            <p>Make one for each program, so that you can limit and revoke them one by one.</p>
            {!visitor.session.suspended && <CreateLink />}
          </Empty>
        }
        path={PATH}
        now_ms={now_ms}
      />
    </>
  );
}
