import type { JSX } from 'preact';
import type { ManagementToken } from '../../../store/tokens/management-tokens.js';
import { listTokens } from '../../../actions/token-list.js';
import { revokeToken } from '../../../actions/token-revoke.js';
import { operatorCaller } from '../../action-context.js';
import { sendListCsv, wantsCsv } from '../../csv-answer.js';
import type { DashboardServices, Route } from '../../types.js';
import { Icon } from '../icons.js';
import { revokeRoutes } from '../revoke-page.js';
import { sendPage } from '../page.js';
import { KeyringList, revokeColumn, termColumns } from '../keyring-list.js';
import { Ago, Badge, Empty, Notice } from '../parts.js';
import type { Column } from '../table.js';

export const TOKENS = '/operator/tokens';
export const TOKENS_TITLE = 'Management tokens';

/** The page with all management tokens, never a secret, and the one that revokes a token. */
export function tokensRoutes(services: DashboardServices): Route[] {
  const { store, now } = services;
  return [
    {
      method: 'GET',
      path: TOKENS,
      access: 'operator',
      answer: async (ctx, visitor) => {
        if (wantsCsv(ctx)) {
          return sendListCsv(listTokens, {}, operatorCaller(ctx, visitor), ctx, services);
        }
        sendPage(ctx, visitor, {
          title: TOKENS_TITLE,
          about: 'Your programs call the management API with a token, each within its scopes.',
          actions: <CreateLink />,
          body: body(await store.tokens.list(), ctx.query.done, now()),
        });
      },
    },
    ...revokeRoutes(services, {
      noun: 'token',
      access: 'operator',
      path: `${TOKENS}/:revokedID/revoke`,
      at: TOKENS,
      action: revokeToken,
      find: async () => ({
        all: await store.tokens.list(),
        above: { path: TOKENS, name: TOKENS_TITLE },
        inputOf: (token_id) => ({ token_id }),
      }),
      unknown: 'There is no such token, or it has ended already.',
    }),
  ];
}

function CreateLink(): JSX.Element {
  return (
    <a class="button solid" href={`${TOKENS}/new`}>
      <Icon name="plus" />
      Create token
    </a>
  );
}

function body(all: readonly ManagementToken[], done: unknown, now_ms: number): JSX.Element {
  return (
    <>
      {done === 'revoked' && (
        <Notice colour="good">The token is revoked. It is refused from now on.</Notice>
      )}
      <KeyringList
        label={TOKENS_TITLE}
        noun="token"
        rows={all.toReversed()}
        columns={columnsAt(now_ms)}
        empty={
          <Empty title="No active token">
            <p>
              A shop or a script makes accounts, credits them and reads their usage with one.{' '}
              <a href="/docs/management">What a token may do</a>
            </p>
            <CreateLink />
          </Empty>
        }
        path={TOKENS}
        now_ms={now_ms}
      />
    </>
  );
}

function columnsAt(now_ms: number): Column<ManagementToken>[] {
  return [
    {
      head: 'Name',
      class: 'lead',
      cell: ({ name, prefix }) => (
        <>
          <strong>{name}</strong>
          <div class="hint">
            <code>{prefix}…</code>
          </div>
        </>
      ),
    },
    {
      head: 'Scopes',
      class: 'wide',
      cell: ({ scopes }) => (
        <span class="row">
          {scopes.map((scope) => (
            <Badge>{scope}</Badge>
          ))}
        </span>
      ),
    },
    {
      head: 'Created',
      class: 'soft',
      label: 'Created',
      cell: ({ created_ms }) => <Ago at_ms={created_ms} now_ms={now_ms} />,
    },
    ...termColumns<ManagementToken>(now_ms),
    revokeColumn(TOKENS, now_ms),
  ];
}
