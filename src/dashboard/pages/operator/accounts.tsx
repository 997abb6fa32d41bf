import type { JSX } from 'preact';
import type { AccountCreation } from '../../../schema-types/account-creation.js';
import { createAccount } from '../../../actions/account-create.js';
import { listAccounts } from '../../../actions/account-list.js';
import { operatorCaller, runAction } from '../../action-context.js';
import { sendListCsv, wantsCsv } from '../../csv-answer.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import { isName } from '../../../actions/cursor.js';
import { sendPage } from '../page.js';
import { InlineActionForm, readActionForm } from '../action-form.js';
import { formRoutes, type FormState } from '../form.js';
import { accountPath } from './account-actions.js';
import { addressOf, ListPage, readListRows } from '../list-page.js';
import { Ago, Badge, Card, Empty, Money, Notice } from '../parts.js';
import type { Column } from '../table.js';
import { seeOther } from '../../redirect.js';
import type { Account } from '../../../store/accounts/accounts.js';
import { NAME_CHARACTERS } from '../../../actions/action.js';

const PATH = '/operator/accounts';

/** The pages with all accounts by name, and with the form for a new one. */
export function accountsRoutes(services: DashboardServices): Route[] {
  return formRoutes({
    access: 'operator',
    page: PATH,
    show: (ctx, visitor, state) =>
      state.fault ? show(ctx, visitor, services, state) : list(ctx, visitor, services, state),
    async act(ctx, visitor, form) {
      const creation = readActionForm(createAccount, form, services.now()) as AccountCreation;
      const { id } = await runAction(createAccount, creation, ctx, visitor, services);
      seeOther(ctx, `${accountPath(id)}?done=created`);
    },
  });
}

/** Opens the account that was typed. If there is none, lists the accounts after that name. */
async function list(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
  state: FormState,
): Promise<void> {
  const caller = operatorCaller(ctx, visitor);
  if (wantsCsv(ctx)) return sendListCsv(listAccounts, {}, caller, ctx, services);
  const wanted = ctx.query.find;
  const typed = typeof wanted === 'string' ? wanted.trim().slice(0, NAME_CHARACTERS) : '';
  const account = isName(typed) && typed !== '' ? await services.store.account(typed) : undefined;
  if (account) return seeOther(ctx, accountPath(account.id));
  return show(ctx, visitor, services, state, isName(typed) ? typed : '');
}

async function show(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
  state: FormState,
  typed = '',
): Promise<void> {
  const caller = operatorCaller(ctx, visitor);
  const list = await readListRows(listAccounts, { after: typed }, caller, ctx, services);
  const empty = (
    <Empty title="No more accounts" link={{ href: PATH, text: 'To the first page' }}>
      <p>There is none further down the alphabet.</p>
    </Empty>
  );
  const body = (
    <>
      {typed !== '' && (
        <Notice colour="warn">
          There is no account {typed}. {list.rows.length > 0 && 'These are the next ones by name.'}
        </Notice>
      )}
      <Card
        title="Create account"
        about="Its page then makes a link by which that person signs in."
      >
        <InlineActionForm
          action={createAccount}
          path={PATH}
          state={state}
          submit="Create account"
        />
      </Card>
      <ListPage
        {...list}
        is_later={list.is_later || typed !== ''}
        label="Accounts"
        columns={columnsAt(services.now())}
        empty={empty}
        pathTo={(words) => addressOf(PATH, { ...words })}
      />
    </>
  );
  const about = 'The accounts of this gateway, and their balances.';
  const page = { title: 'Accounts', about, at: PATH, actions: <Search typed={typed} />, body };
  sendPage(ctx, visitor, page, state.fault ? 400 : 200);
}

function Search({ typed }: { typed: string }): JSX.Element {
  return (
    <form class="search row" method="get" action={PATH} role="search">
      <input
        name="find"
        aria-label="Find an account"
        placeholder="Name or ID"
        value={typed}
        maxLength={NAME_CHARACTERS}
        required
      />
      <button>Find</button>
    </form>
  );
}

function columnsAt(now_ms: number): Column<Account>[] {
  return [
    {
      head: 'Name',
      class: 'lead',
      cell: ({ id, name, suspended_ms }) => (
        <>
          <a href={accountPath(id)}>
            <strong>{name}</strong>
          </a>{' '}
          {suspended_ms !== null && <Badge colour="bad">suspended</Badge>}
        </>
      ),
    },
    {
      head: 'Created',
      class: 'soft',
      label: 'Created',
      cell: ({ created_ms }) => <Ago at_ms={created_ms} now_ms={now_ms} />,
    },
    {
      head: 'Balance',
      class: 'number',
      label: 'Balance',
      cell: ({ balance_nano }) => <Money nano={balance_nano} />,
    },
    {
      head: 'Held',
      class: 'number soft',
      label: 'Held',
      cell: ({ held_nano }) => <Money nano={held_nano} />,
    },
    {
      head: 'Available',
      class: 'number end',
      cell: ({ balance_nano, held_nano }) => <Money nano={balance_nano - held_nano} />,
    },
  ];
}
