import { randomUUID } from 'node:crypto';
import type { JSX } from 'preact';
import { GatewayError } from '../../../errors.js';
import { readFormBody } from '../../../request/body.js';
import type { Account } from '../../../store/types.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import { shownKeys } from '../../views/keys.js';
import { usageRange } from '../../views/usage.js';
import { KeyTable, spentByKey } from '../key-table.js';
import { LedgerTable } from '../ledger-table.js';
import { sendPage } from '../page.js';
import { Field } from '../fields.js';
import { Card, Code, Empty, Figures, Money, Notice } from '../parts.js';
import { seeOther } from '../redirect.js';
import { dollarsShown } from '../words.js';
import { amountOf, faultOf, invalid } from './accounts.js';

const PATH = '/operator/accounts/:id';
const FORM_BYTES = 8192;
const ENTRIES = 50;

interface Shown {
  fault?: { message: string; param: string | null };
  form?: URLSearchParams;
}

/** One account, for the operator: its money, its keys and what it did; and credit for it. */
export function accountRoutes(services: DashboardServices): Route[] {
  return [
    {
      method: 'GET',
      path: PATH,
      who: 'operator',
      answer: (ctx, visitor) => show(ctx, visitor, services, {}),
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
  const account = await accountOf(ctx, services);
  const form = await readFormBody(ctx.req, FORM_BYTES);
  try {
    const amount_nano = amountOf(form.get('amount') ?? '', 'amount');
    const reference = (form.get('reference') ?? '').trim();
    if (!/^[^\p{Cc}]{1,200}$/u.test(reference)) {
      throw invalid('reference', 'A reference has 1 to 200 characters.');
    }
    await services.store.credit(account.id, amount_nano, reference);
    seeOther(ctx, `/operator/accounts/${encodeURIComponent(account.id)}?done=credited`);
  } catch (error) {
    await show(ctx, visitor, services, { fault: faultOf(error), form });
  }
}

async function accountOf(ctx: DashboardContext, { store }: DashboardServices): Promise<Account> {
  const account = await store.account(ctx.params['id'] ?? '');
  if (!account) throw new GatewayError('not_found', 'There is no such account.');
  return account;
}

async function show(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
  shown: Shown,
): Promise<void> {
  const account = await accountOf(ctx, services);
  const page = {
    title: account.name,
    above: { path: '/operator/accounts', name: 'Accounts' },
    at: '/operator/accounts',
    body: await body(account, ctx, services, shown),
  };
  sendPage(ctx, visitor, page, shown.fault ? 400 : 200);
}

async function body(
  account: Account,
  ctx: DashboardContext,
  { store, now }: DashboardServices,
  shown: Shown,
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
          { name: 'Held', value: <Money nano={held_nano} />, note: 'for calls under way' },
          { name: 'Spend, 30 days', value: <Money nano={spent} /> },
        ]}
      />
      <CreditForm id={id} shown={shown} />
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

/** The reference is made with the form, so that sending it twice credits once. */
function CreditForm({ id, shown: { fault, form } }: { id: string; shown: Shown }): JSX.Element {
  const said = (name: string): string | undefined =>
    fault?.param === name ? fault.message : undefined;
  return (
    <Card title="Add credit" about="An amount below zero takes some back.">
      {fault?.param === null && <Notice mood="bad">{fault.message}</Notice>}
      <form
        class="filters"
        method="post"
        action={`/operator/accounts/${encodeURIComponent(id)}/credit`}
      >
        <Field
          label="Amount, in dollars"
          name="amount"
          fault={said('amount')}
          input={{
            type: 'text',
            inputMode: 'decimal',
            required: true,
            value: form?.get('amount') ?? '',
            placeholder: '10.00',
            autoComplete: 'off',
          }}
        />
        <Field
          label="Reference"
          name="reference"
          fault={said('reference')}
          input={{
            type: 'text',
            required: true,
            maxLength: 200,
            value: form?.get('reference') ?? `dashboard-${randomUUID().slice(0, 8)}`,
            autoComplete: 'off',
          }}
        />
        <button class="solid">Add credit</button>
      </form>
      <p class="hint">The same reference is credited once, however often it is sent.</p>
    </Card>
  );
}

function shellWord(text: string): string {
  return /^[\w.@-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
