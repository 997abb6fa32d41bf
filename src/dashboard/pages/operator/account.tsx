import { randomUUID } from 'node:crypto';
import type { JSX } from 'preact';
import type { AccountCredit } from '../../../schema-types/account-credit.js';
import { creditAccount } from '../../../actions/account-credit.js';
import { accountOfId } from '../../../actions/action.js';
import { operatorCaller, runAction } from '../../action-context.js';
import { sendListCsv, wantsCsv } from '../../csv-answer.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import { listKeys, shownKeys } from '../../../actions/key-list.js';
import { withAllowances, withOwnAllowances } from '../../../actions/limit-terms.js';
import { usageRange } from '../../../actions/usage-groups.js';
import { keyColumns } from '../key-table.js';
import { AccountActions, accountPath, ActionNotice, SuspensionCard } from './account-actions.js';
import { limitsPath } from './account-limits.js';
import { refundLink } from './refund.js';
import { ledgerList, sendLedgerCsv } from '../ledger-table.js';
import { LimitsCard } from '../limits.js';
import { addressOf, ListPage, wholeList } from '../list-page.js';
import { sendPage } from '../page.js';
import { InlineActionForm, readActionForm } from '../action-form.js';
import { formRoutes, type FormState } from '../form.js';
import { Badge, Card, CopyButton, Empty, Figures, Money, Notice } from '../parts.js';
import { seeOther } from '../../redirect.js';
import { formatAmount } from '../formatting.js';
import type { Account } from '../../../store/accounts/accounts.js';

const PATH = '/operator/accounts/:id';

/** The page of one account for operators: its balance, keys and calls, and a form for credit. */
export function accountRoutes(services: DashboardServices): Route[] {
  return formRoutes({
    access: 'operator',
    page: PATH,
    action: `${PATH}/credit`,
    show: (ctx, visitor, state) => show(ctx, visitor, services, state),
    act: async (ctx, visitor, form) => {
      const id = ctx.params.id ?? '';
      const credit = readActionForm(creditAccount, form, services.now()) as AccountCredit;
      await runAction(creditAccount, { account_id: id, ...credit }, ctx, visitor, services);
      seeOther(ctx, `${accountPath(id)}?done=credited`);
    },
  });
}

async function show(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
  state: FormState,
): Promise<void> {
  const account = await accountOfId(services.store, ctx.params.id ?? '');
  const tab = TABS.find(({ id }) => id === ctx.query.tab)?.id ?? 'overview';
  if (wantsCsv(ctx) && tab === 'ledger') {
    return sendLedgerCsv(account.id, ctx, visitor, services);
  }
  if (wantsCsv(ctx) && tab === 'keys') {
    const input = { account_id: account.id };
    return sendListCsv(listKeys, input, operatorCaller(ctx, visitor), ctx, services);
  }
  const page = {
    title: account.name,
    above: { path: '/operator/accounts', name: 'Accounts' },
    at: '/operator/accounts',
    about: <About account={account} />,
    actions: <AccountActions id={account.id} />,
    body: (
      <>
        <Tabs account_id={account.id} chosen={tab} />
        <Done done={ctx.query.done} balance_nano={account.balance_nano} />
        <ActionNotice done={ctx.query.done} account={account} />
        {await BODIES[tab](account, services, state, ctx, visitor)}
      </>
    ),
  };
  sendPage(ctx, visitor, page, state.fault ? 400 : 200);
}

function About({ account: { id, suspended_ms } }: { account: Account }): JSX.Element {
  return (
    <span class="row">
      <code>{id}</code>
      <CopyButton text={id} label="Copy the ID" />
      {suspended_ms !== null && <Badge colour="bad">suspended</Badge>}
    </span>
  );
}

const TABS = [
  { id: 'overview', name: 'Overview' },
  { id: 'keys', name: 'API Keys' },
  { id: 'ledger', name: 'Ledger' },
] as const;

type Tab = (typeof TABS)[number]['id'];

/** The tabs as links, which need no script. */
function Tabs({ account_id, chosen }: { account_id: string; chosen: Tab }): JSX.Element {
  const path = accountPath(account_id);
  return (
    <nav class="segments" aria-label="Parts of the account">
      {TABS.map(({ id, name }) => (
        <a
          href={id === 'overview' ? path : `${path}?tab=${id}`}
          aria-current={id === chosen ? 'page' : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}

type Body = (
  account: Account,
  services: DashboardServices,
  state: FormState,
  ctx: DashboardContext,
  visitor: Visitor | undefined,
) => Promise<JSX.Element>;

const BODIES: Readonly<Record<Tab, Body>> = {
  overview: async (account, { store, now }, state) => {
    const { id, balance_nano, held_nano } = account;
    const [byKey, limited] = await Promise.all([
      store.spend(id, usageRange({}, now())),
      withOwnAllowances(store, 'account', account),
    ]);
    const spent = [...byKey.values()].reduce((sum, nano) => sum + nano, 0n);
    return (
      <>
        <Figures
          figures={[
            { name: 'Available', value: <Money nano={balance_nano - held_nano} /> },
            { name: 'Balance', value: <Money nano={balance_nano} /> },
            { name: 'Held', value: <Money nano={held_nano} />, note: 'for in-flight calls' },
            { name: 'Spent after refunds, 30 days', value: <Money nano={spent} /> },
          ]}
        />
        <CreditForm id={id} state={state} />
        <LimitsCard
          of={limited}
          now_ms={now()}
          about="All keys of the account share them."
          actions={
            <a class="button" href={limitsPath(id)}>
              Edit limits
            </a>
          }
        />
        <SuspensionCard account={account} now_ms={now()} />
      </>
    );
  },

  keys: async ({ id }, { store, now }) => {
    const [keys, spent] = await Promise.all([
      store.keys(id).then((found) => withAllowances(store, 'key', shownKeys(found))),
      store.spend(id, usageRange({}, now())),
    ]);
    const path = accountPath(id);
    return (
      <ListPage
        {...wholeList(keys)}
        title="API Keys"
        label="API Keys"
        columns={keyColumns({ spent, now_ms: now(), path: `${path}/keys` })}
        empty={
          <Empty title="No key yet">
            <p>The account makes its own, under Settings, API Keys.</p>
          </Empty>
        }
        pathTo={(words) => addressOf(path, { tab: 'keys', ...words })}
      />
    );
  },

  ledger: ({ id: account_id }, services, _state, ctx, visitor) =>
    ledgerList({
      account_id,
      ctx,
      visitor,
      services,
      pathTo: (words) => addressOf(accountPath(account_id), { tab: 'ledger', ...words }),
      action: refundLink,
      requests: '/operator/requests',
    }),
};

function Done(props: { done: unknown; balance_nano: bigint }): JSX.Element | null {
  if (props.done === 'created') return <Notice colour="good">The account is created.</Notice>;
  if (props.done === 'revoked') return <Notice colour="good">The key is revoked.</Notice>;
  if (props.done !== 'credited') return null;
  return (
    <Notice colour="good">
      The credit is booked. The balance is {formatAmount(props.balance_nano)} now.
    </Notice>
  );
}

/** The form carries its reference, so that sending it twice credits once. */
function CreditForm({ id, state }: { id: string; state: FormState }): JSX.Element {
  return (
    <Card title="Add credit" about="An amount below zero takes some back.">
      <InlineActionForm
        action={creditAccount}
        path={`${accountPath(id)}/credit`}
        state={state}
        values={{ reference: `dashboard-${randomUUID().slice(0, 8)}` }}
        submit="Add credit"
      />
      <p class="hint">The same reference is credited once, however often it is sent.</p>
    </Card>
  );
}
