import type { JSX } from 'preact';
import type { AccountCreation } from '../../../schema-types/account-creation.js';
import { createAccount } from '../../../actions/account-create.js';
import { runAction } from '../../action-context.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import { isName, pageOf, readCursor } from '../../../actions/cursor.js';
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
import { Ago, Badge, Card, Empty, Money, Notice } from '../parts.js';
import { seeOther } from '../../redirect.js';
import type { Account } from '../../../store/accounts/accounts.js';
import { NAME_CHARACTERS } from '../../../actions/action.js';

const PATH = '/operator/accounts';
const PAGE = 50;

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
  { store, now }: DashboardServices,
  state: FormState,
  typed = '',
): Promise<void> {
  const { cursor } = ctx.query;
  const after = typeof cursor === 'string' ? readCursor(cursor, isName) : typed;
  const accounts = await store.accounts({ limit: PAGE + 1, ...(after !== '' && { after }) });
  const { rows, next_cursor } = pageOf(accounts, PAGE, ({ name }) => name);
  const body = (
    <>
      {typed !== '' && (
        <Notice colour="warn">
          There is no account {typed}. {rows.length > 0 && 'These are the next ones by name.'}
        </Notice>
      )}
      <Create state={state} />
      <Card flush>
        {rows.length > 0 ? (
          <AccountTable accounts={rows} now_ms={now()} />
        ) : (
          <Empty title="No more accounts">
            <p>There is none further down the alphabet.</p>
            <a class="button" href={PATH}>
              To the first page
            </a>
          </Empty>
        )}
      </Card>
      <Paging is_later={after !== ''} next_cursor={next_cursor} />
    </>
  );
  const about = 'The accounts of this gateway, and their balances.';
  const page = { title: 'Accounts', about, at: PATH, actions: <Search typed={typed} />, body };
  sendPage(ctx, visitor, page, state.fault ? 400 : 200);
}

function Paging(props: { is_later: boolean; next_cursor: string | null }): JSX.Element | null {
  const { is_later, next_cursor } = props;
  if (!is_later && next_cursor === null) return null;
  return (
    <div class="row">
      {is_later && (
        <a class="button" href={PATH}>
          First page
        </a>
      )}
      {next_cursor !== null && (
        <a class="button" href={`${PATH}?cursor=${next_cursor}`}>
          Next page
        </a>
      )}
    </div>
  );
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

function AccountTable(props: { accounts: readonly Account[]; now_ms: number }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Accounts">
      <table class="fold">
        <thead>
          <tr>
            <th>Name</th>
            <th>Created</th>
            <th class="number">Balance</th>
            <th class="number">Held</th>
            <th class="number">Available</th>
          </tr>
        </thead>
        <tbody>
          {props.accounts.map(({ id, name, balance_nano, held_nano, created_ms, suspended_ms }) => (
            <tr>
              <td class="lead">
                <a href={`${PATH}/${encodeURIComponent(id)}`}>
                  <strong>{name}</strong>
                </a>{' '}
                {suspended_ms !== null && <Badge colour="bad">suspended</Badge>}
              </td>
              <td class="soft" data-label="Created">
                <Ago at_ms={created_ms} now_ms={props.now_ms} />
              </td>
              <td class="number" data-label="Balance">
                <Money nano={balance_nano} />
              </td>
              <td class="number soft" data-label="Held">
                <Money nano={held_nano} />
              </td>
              <td class="number end">
                <Money nano={balance_nano - held_nano} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
