import type { JSX } from 'preact';
import { accountOfId } from '../../../actions/action.js';
import { resumeAccount, suspendAccount } from '../../../actions/account-suspension.js';
import { revokeKey } from '../../../actions/key-revoke.js';
import { createSignInLink } from '../../../actions/sign-in-link-create.js';
import { requestsPath } from '../../views/request-query.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import type { Account } from '../../../store/accounts/accounts.js';
import { seeOther } from '../../redirect.js';
import { readForm } from '../form.js';
import { editKeyRoutes } from '../key-edit.js';
import { runAction } from '../../action-context.js';
import { revokeRoutes } from '../revoke-page.js';
import { sendPage } from '../page.js';
import { Ago, Card, Notice } from '../parts.js';
import { ShownOnce } from '../shown-once.js';
import { formatAmount } from '../formatting.js';

const PATH = '/operator/accounts/:id';
const AT = '/operator/accounts';

/** The path of the page of an account. */
export function accountPath(id: string): string {
  return `${AT}/${encodeURIComponent(id)}`;
}

function keysPath(account_id: string): string {
  return `${accountPath(account_id)}?tab=keys`;
}

/** The link and the button beside the name of an account. */
export function AccountActions({ id }: { id: string }): JSX.Element {
  return (
    <>
      <a class="button" href={requestsPath('/operator/requests', { account: id })}>
        Requests
      </a>
      <form method="post" action={`${accountPath(id)}/sign-in-link`}>
        <button>Make sign-in link</button>
      </form>
    </>
  );
}

/** The routes that suspend and resume an account, make a sign-in link and change its keys. */
export function accountActionRoutes(services: DashboardServices): Route[] {
  const { store } = services;
  return [
    suspensionRoute(suspendAccount, 'suspend', 'suspended', services),
    suspensionRoute(resumeAccount, 'resume', 'resumed', services),
    {
      method: 'POST',
      path: `${PATH}/sign-in-link`,
      access: 'operator',
      answer: (ctx, visitor) => makeLink(ctx, visitor, services),
    },
    ...editKeyRoutes(services, {
      access: 'operator',
      path: `${PATH}/keys`,
      at: AT,
      async find({ params }) {
        const { id: account_id, name } = await accountOfId(store, params.id ?? '');
        return { account_id, above: { path: keysPath(account_id), name } };
      },
    }),
    ...revokeRoutes(services, {
      noun: 'key',
      access: 'operator',
      path: `${PATH}/keys/:revokedID/revoke`,
      at: AT,
      action: revokeKey,
      async find({ params }) {
        const { id: account_id, name } = await accountOfId(store, params.id ?? '');
        return {
          all: await store.keys(account_id),
          above: { path: keysPath(account_id), name },
          inputOf: (key_id) => ({ key_id, account_id }),
        };
      },
      unknown: 'The account has no such key, or it has ended already.',
    }),
  ];
}

async function makeLink(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
): Promise<void> {
  await readForm(ctx);
  const input = { account_id: ctx.params.id ?? '' };
  const { account, url } = await runAction(createSignInLink, input, ctx, visitor, services);
  const { id, name } = account;
  const path = accountPath(id);
  const page = {
    title: 'A sign-in link',
    about: `It signs in to ${name}, without the rights of an operator.`,
    above: { path, name },
    at: AT,
    narrow: true,
    body: (
      <ShownOnce
        notice={
          <Notice colour="warn">
            <strong>Copy it now, and send it to that person only.</strong> It works once, within ten
            minutes, and cannot be shown again. Opening it here would sign you in as {name}.
          </Notice>
        }
        title="Link"
        label="sign-in link"
        text={url}
        path={path}
      />
    ),
  };
  sendPage(ctx, visitor, page, 201);
}

function suspensionRoute(
  action: typeof suspendAccount,
  verb: string,
  done: string,
  services: DashboardServices,
): Route {
  return {
    method: 'POST',
    path: `${PATH}/${verb}`,
    access: 'operator',
    async answer(ctx, visitor) {
      const input = { account_id: ctx.params.id ?? '' };
      const { account } = await runAction(action, input, ctx, visitor, services);
      seeOther(ctx, `${accountPath(account.id)}?done=${done}`);
    },
  };
}

/** The notice after a successful action. */
export function ActionNotice(props: { done: unknown; account: Account }): JSX.Element | null {
  const { balance_nano } = props.account;
  switch (props.done) {
    case 'suspended':
      return <Notice colour="good">The account is suspended. Its keys are refused.</Notice>;
    case 'resumed':
      return <Notice colour="good">The account is resumed. Its keys can call again.</Notice>;
    case 'limited':
      return <Notice colour="good">The limits are changed, for every call from now on.</Notice>;
    case 'edited':
      return <Notice colour="good">The key is changed, for every call from now on.</Notice>;
    case 'refunded':
      return (
        <Notice colour="good">
          The refund is booked. The balance is {formatAmount(balance_nano)} now.
        </Notice>
      );
    default:
      return null;
  }
}

function Changes({ id }: { id: string }): JSX.Element {
  const query = new URLSearchParams({ account: id }).toString();
  return <a href={`/operator/audit?${query}`}>All changes of this account</a>;
}

export function SuspensionCard(props: { account: Account; now_ms: number }): JSX.Element {
  const { account, now_ms } = props;
  const { id, suspended_ms } = account;
  if (suspended_ms === null) {
    return (
      <Card title="Suspend" about="Refuses the keys of the account until it is resumed.">
        <form method="post" action={`${accountPath(id)}/suspend`}>
          <button class="bad">Suspend account</button>
        </form>
        <p class="hint">
          In-flight calls are finished and charged. <Changes id={id} />
        </p>
      </Card>
    );
  }
  return (
    <Card
      title="Suspended"
      about={
        <>
          Its keys are refused; that began <Ago at_ms={suspended_ms} now_ms={now_ms} />.
        </>
      }
    >
      <form method="post" action={`${accountPath(id)}/resume`}>
        <button class="solid">Resume account</button>
      </form>
      <p class="hint">
        <Changes id={id} />
      </p>
    </Card>
  );
}
