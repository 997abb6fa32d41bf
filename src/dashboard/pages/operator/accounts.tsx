import type { JSX } from 'preact';
import type { AccountCreation } from '../../../schema-types/account-creation.js';
import { createAccount } from '../../../actions/account-create.js';
import { listAccounts } from '../../../actions/account-list.js';
import { operatorCaller, runAction } from '../../action-context.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import { isName } from '../../../actions/cursor.js';
import { sendPage } from '../page.js';
import { Field } from '../fields.js';
import {
  amountOf,
  answerForm,
  EMPTY_FORM,
  fieldsReader,
  faultMessage,
  textOf,
  type FormState,
} from '../form.js';
import { addressOf, ListPage, readListRows } from '../list-page.js';
import { Ago, Badge, Card, Empty, Money, Notice } from '../parts.js';
import type { Column } from '../table.js';
import { seeOther } from '../../redirect.js';
import type { Account } from '../../../store/accounts/accounts.js';
import { NAME_CHARACTERS } from '../../../actions/action.js';

const PATH = '/operator/accounts';

const readFields = fieldsReader<AccountCreation>('account-creation');

/** The pages with all accounts by name, and with the form for a new one. */
export function accountsRoutes(services: DashboardServices): Route[] {
  return [
    {
      method: 'GET',
      path: PATH,
      access: 'operator',
      answer: (ctx, visitor) => list(ctx, visitor, services),
    },
    {
      method: 'POST',
      path: PATH,
      access: 'operator',
      answer: (ctx, visitor) => create(ctx, visitor, services),
    },
  ];
}

/** Opens the account that was typed. If there is none, lists the accounts after that name. */
async function list(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
): Promise<void> {
  const wanted = ctx.query['find'];
  const typed = typeof wanted === 'string' ? wanted.trim().slice(0, NAME_CHARACTERS) : '';
  const account = isName(typed) && typed !== '' ? await services.store.account(typed) : undefined;
  if (account) return seeOther(ctx, `${PATH}/${encodeURIComponent(account.id)}`);
  return show(ctx, visitor, services, EMPTY_FORM, isName(typed) ? typed : '');
}

async function create(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
): Promise<void> {
  await answerForm(ctx, {
    act: async (form) => {
      const name = textOf(form, 'name');
      const creation = readFields({ name, credit: amountOf(form, 'credit') });
      const { id } = await runAction(createAccount, creation, ctx, visitor, services);
      seeOther(ctx, `${PATH}/${encodeURIComponent(id)}?done=created`);
    },
    showAgain: (state) => show(ctx, visitor, services, state),
  });
}

async function show(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
  state: FormState,
  typed = '',
): Promise<void> {
  const list = await readListRows(
    listAccounts,
    { after: typed },
    operatorCaller(ctx, visitor),
    ctx,
    services,
  );
  const empty = (
    <Empty title="No more accounts">
      <p>There is none further down the alphabet.</p>
      <a class="button" href={PATH}>
        To the first page
      </a>
    </Empty>
  );
  const body = (
    <>
      {typed !== '' && (
        <Notice colour="warn">
          There is no account {typed}. {list.rows.length > 0 && 'These are the next ones by name.'}
        </Notice>
      )}
      <Create state={state} />
      <ListPage
        {...list}
        is_later={list.is_later || typed !== ''}
        label="Accounts"
        columns={columnsAt(services.now())}
        empty={empty}
        pathTo={(cursor) => addressOf(PATH, { cursor })}
        first="First page"
        next="Next page"
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

function Create({ state }: { state: FormState }): JSX.Element {
  const { values } = state;
  return (
    <Card title="Create account" about="Its page then makes a link by which that person signs in.">
      <form class="filters" method="post" action={PATH}>
        <Field
          label="Name"
          name="name"
          fault={faultMessage(state, 'name')}
          input={{
            type: 'text',
            required: true,
            maxLength: NAME_CHARACTERS,
            value: values.get('name') ?? '',
            autoComplete: 'off',
            placeholder: 'ada@example.org',
          }}
        />
        <Field
          label="Credit, in dollars"
          name="credit"
          fault={faultMessage(state, 'credit')}
          input={{
            type: 'text',
            inputMode: 'decimal',
            value: values.get('credit') ?? '',
            placeholder: '10.00',
            autoComplete: 'off',
          }}
        />
        <button class="solid">Create account</button>
      </form>
    </Card>
  );
}

function columnsAt(now_ms: number): Column<Account>[] {
  return [
    {
      head: 'Name',
      class: 'lead',
      cell: ({ id, name, suspended_ms }) => (
        <>
          <a href={`${PATH}/${encodeURIComponent(id)}`}>
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
