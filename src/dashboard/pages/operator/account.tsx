import { randomUUID } from 'node:crypto';
import type { JSX } from 'preact';
import type { AccountCredit } from '../../../schema-types/account-credit.js';
import { shellWord } from '../../../lib/shell-quote.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import { accountOf, creditAccount } from '../../views/accounts.js';
import { shownKeys } from '../../views/keys.js';
import { usageRange } from '../../views/usage.js';
import { KeyTable, spentByKey } from '../key-table.js';
import { LedgerTable } from '../ledger-table.js';
import { sendPage } from '../page.js';
import { Field } from '../fields.js';
import {
  amountOf,
  answerForm,
  EMPTY_FORM,
  fieldsReader,
  saidOf,
  textOf,
  type FormState,
} from '../form.js';
import { Card, Code, Empty, Figures, Money, Notice } from '../parts.js';
import { seeOther } from '../../redirect.js';
import { dollarsShown } from '../words.js';
import type { Account } from '../../../store/accounts/accounts.js';

const PATH = '/operator/accounts/:id';
const ENTRIES = 50;

const readFields = fieldsReader<AccountCredit>('account-credit');

/** The page of one account for operators: its balance, keys and calls, and a form for credit. */
export function accountRoutes(services: DashboardServices): Route[] {
  return [
    {
      method: 'GET',
      path: PATH,
      who: 'operator',
      answer: (ctx, visitor) => show(ctx, visitor, services, EMPTY_FORM),
    },
    {
      method: 'POST',
      path: `${PATH}/credit`,
      who: 'operator',
      answer: (ctx, visitor) => credit(ctx, visitor, services),
    },
  ];
}

async function credit(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
): Promise<void> {
  const id = ctx.params['id'] ?? '';
  await answerForm(ctx, {
    act: async (form) => {
      const reference = textOf(form, 'reference');
      const asked = readFields({ amount: amountOf(form, 'amount'), reference });
      await creditAccount(services, id, asked);
      seeOther(ctx, `/operator/accounts/${encodeURIComponent(id)}?done=credited`);
    },
    showAgain: (state) => show(ctx, visitor, services, state),
  });
}

async function show(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
  state: FormState,
): Promise<void> {
  const account = await accountOf(services.store, ctx.params['id'] ?? '');
  const page = {
    title: account.name,
    above: { path: '/operator/accounts', name: 'Accounts' },
    at: '/operator/accounts',
    body: await body(account, ctx, services, state),
  };
  sendPage(ctx, visitor, page, state.fault ? 400 : 200);
}

async function body(
  account: Account,
  ctx: DashboardContext,
  { store, now }: DashboardServices,
  state: FormState,
): Promise<JSX.Element> {
  const { id, name, balance_nano, held_nano } = account;
  const range = usageRange({}, now());
  const [keys, entries, usage] = await Promise.all([
    store.keys(id),
    store.ledger(id, { before: Number.MAX_SAFE_INTEGER, limit: ENTRIES }),
    store.usage(id, range),
  ]);
  const spent = usage.reduce((sum, { cost_nano }) => sum + cost_nano, 0n);
  return (
    <>
      <Done done={ctx.query['done']} balance_nano={balance_nano} />
      <Figures
        figures={[
          { name: 'Available', value: <Money nano={balance_nano - held_nano} /> },
          { name: 'Balance', value: <Money nano={balance_nano} /> },
          { name: 'Held', value: <Money nano={held_nano} />, note: 'for in-flight calls' },
          { name: 'Spend, 30 days', value: <Money nano={spent} /> },
        ]}
      />
      <CreditForm id={id} state={state} />
      <Card title="Sign in" about="A link that works once, within ten minutes.">
        <Code label="command" text={`npx tollgate sign-in-link ${shellWord(name)}`} />
      </Card>
      <Card title="API Keys" flush>
        {keys.length > 0 ? (
          <KeyTable keys={shownKeys(keys)} spent={spentByKey(usage)} now_ms={now()} isForeign />
        ) : (
          <Empty title="No key">
            <p>The account makes its own, under Settings, API Keys.</p>
          </Empty>
        )}
      </Card>
      <Card title="Ledger" about={`The last ${ENTRIES} entries`} flush>
        {entries.length > 0 ? (
          <LedgerTable entries={entries} keys={keys} />
        ) : (
          <Empty title="No entry">
            <p>Credits and charges appear here.</p>
          </Empty>
        )}
      </Card>
    </>
  );
}

function Done(props: { done: unknown; balance_nano: bigint }): JSX.Element | null {
  if (props.done === 'created') return <Notice mood="good">The account is created.</Notice>;
  if (props.done !== 'credited') return null;
  return (
    <Notice mood="good">
      The credit is booked. The balance is {dollarsShown(props.balance_nano)} now.
    </Notice>
  );
}

/** The form carries its reference, so that sending it twice credits once. */
function CreditForm({ id, state }: { id: string; state: FormState }): JSX.Element {
  const { values } = state;
  return (
    <Card title="Add credit" about="An amount below zero takes some back.">
      <form
        class="filters"
        method="post"
        action={`/operator/accounts/${encodeURIComponent(id)}/credit`}
      >
        <Field
          label="Amount, in dollars"
          name="amount"
          fault={saidOf(state, 'amount')}
          input={{
            type: 'text',
            inputMode: 'decimal',
            required: true,
            value: values.get('amount') ?? '',
            placeholder: '10.00',
            autoComplete: 'off',
          }}
        />
        <Field
          label="Reference"
          name="reference"
          fault={saidOf(state, 'reference')}
          input={{
            type: 'text',
            required: true,
            maxLength: 200,
            value: values.get('reference') ?? `dashboard-${randomUUID().slice(0, 8)}`,
            autoComplete: 'off',
          }}
        />
        <button class="solid">Add credit</button>
      </form>
      <p class="hint">The same reference is credited once, however often it is sent.</p>
    </Card>
  );
}
