import type { JSX } from 'preact';
import type { ManagementToken } from '../../../store/tokens/management-tokens.js';
import { revokeToken } from '../../../actions/token-revoke.js';
import type { DashboardServices, Route } from '../../types.js';
import { isActive } from '../../../actions/key-list.js';
import { Icon } from '../icons.js';
import { revokeRoutes } from '../revoke-page.js';
import { sendPage } from '../page.js';
import { Ago, Badge, Card, Empty, Ending, LastUsed, Notice, RevokeLink } from '../parts.js';
import { Table, type Column } from '../table.js';
import { pluralize } from '../formatting.js';

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
  const newest = all.toReversed();
  const active = newest.filter((token) => isActive(token, now_ms));
  const ended = newest.filter((token) => !isActive(token, now_ms));
  return (
    <>
      {done === 'revoked' && (
        <Notice colour="good">The token is revoked. It is refused from now on.</Notice>
      )}
      <Card flush>
        {active.length > 0 ? (
          <TokenTable tokens={active} now_ms={now_ms} />
        ) : (
          <Empty title="No active token">
            <p>
              A shop or a script makes accounts, credits them and reads their usage with one.{' '}
              <a href="/docs/management">What a token may do</a>
            </p>
            <CreateLink />
          </Empty>
        )}
      </Card>
      {ended.length > 0 && (
        <details class="card ended">
          <summary>{pluralize(ended.length, 'token')} revoked or expired</summary>
          <TokenTable tokens={ended} now_ms={now_ms} />
        </details>
      )}
    </>
  );
}

function TokenTable(props: { tokens: readonly ManagementToken[]; now_ms: number }): JSX.Element {
  return <Table label={TOKENS_TITLE} columns={columnsAt(props.now_ms)} rows={props.tokens} />;
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
      class: 'whole',
      cell: ({ scopes }) => (
        <span class="row tags">
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
    {
      head: 'Last used',
      class: 'soft',
      label: 'Last used',
      cell: ({ last_used_ms }) => <LastUsed at_ms={last_used_ms} now_ms={now_ms} />,
    },
    {
      head: 'Expires',
      class: 'soft',
      label: ({ revoked_ms }) => (revoked_ms === null ? 'Expires' : undefined),
      cell: (token) => <Ending of={token} now_ms={now_ms} />,
    },
    {
      class: 'number end',
      cell: (token) => isActive(token, now_ms) && <RevokeLink of={token} path={TOKENS} />,
    },
  ];
}
