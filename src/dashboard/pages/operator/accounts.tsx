import type { JSX } from 'preact';
import { parseDollars } from '../../../billing/money.js';
import { GatewayError } from '../../../errors.js';
import { readFormBody } from '../../../request/body.js';
import { StoreError, type Account } from '../../../store/types.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import { sendPage } from '../page.js';
import { Field } from '../fields.js';
import { Ago, Card, Empty, Money, Notice } from '../parts.js';
import { seeOther } from '../redirect.js';

const PATH = '/operator/accounts';
const FORM_BYTES = 8192;
const PAGE = 50;

interface Fault {
  message: string;
  param: string | null;
}

/** All accounts by name, and the making of one. */
export function accountsRoutes(services: DashboardServices): Route[] {
  return [
    {
      method: 'GET',
      path: PATH,
      who: 'operator',
      answer: (ctx, visitor) => show(ctx, visitor, services),
    },
    {
      method: 'POST',
      path: PATH,
      who: 'operator',
      answer: (ctx, visitor) => create(ctx, visitor, services),
    },
  ];
}

async function create(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
): Promise<void> {
  const form = await readFormBody(ctx.req, FORM_BYTES);
  try {
    const name = nameOf(form);
    const credit_nano = amountOf(form.get('credit') || '0', 'credit');
    if (credit_nano < 0n) throw invalid('credit', 'An account begins with 0 or more.');
    const { id } = await services.store.createAccount(name, credit_nano);
    seeOther(ctx, `${PATH}/${encodeURIComponent(id)}?done=created`);
  } catch (error) {
    await show(ctx, visitor, services, faultOf(error), form);
  }
}

function nameOf(form: URLSearchParams): string {
  const name = (form.get('name') ?? '').trim();
  if (/^[^\p{Cc}]{1,100}$/u.test(name)) return name;
  throw invalid('name', 'A name has 1 to 100 characters.');
}

/** An amount of a form in nano-dollars. Throws `GatewayError` (400). */
export function amountOf(text: string, param: string): bigint {
  try {
    return parseDollars(text.trim());
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalid(param, `${error.message}.`);
  }
}

export function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}

/** What was wrong with a form, in words for the page; anything else is thrown on. */
export function faultOf(error: unknown): Fault {
  if (error instanceof StoreError) return { message: error.message, param: null };
  if (error instanceof GatewayError && error.status === 400) return error;
  throw error;
}

async function show(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  { store, now }: DashboardServices,
  fault?: Fault,
  form = new URLSearchParams(),
): Promise<void> {
  const { after } = ctx.query;
  const page = typeof after === 'string' ? { after, limit: PAGE + 1 } : { limit: PAGE + 1 };
  const accounts = await store.accounts(page);
  const shown = accounts.slice(0, PAGE);
  const last = accounts.length > PAGE ? shown.at(-1) : undefined;
  const body = (
    <>
      <Create fault={fault} form={form} />
      <Card flush>
        {shown.length > 0 ? (
          <AccountTable accounts={shown} now_ms={now()} />
        ) : (
          <Empty title="No more accounts">
            <a href={PATH}>To the first page</a>
          </Empty>
        )}
      </Card>
      {last && (
        <a class="button" href={`${PATH}?${new URLSearchParams({ after: last.name }).toString()}`}>
          Next page
        </a>
      )}
    </>
  );
  const about = 'Who may call, and what each of them has.';
  sendPage(ctx, visitor, { title: 'Accounts', about, at: PATH, body }, fault ? 400 : 200);
}

function Create(props: { fault: Fault | undefined; form: URLSearchParams }): JSX.Element {
  const { fault, form } = props;
  const said = (name: string): string | undefined =>
    fault?.param === name ? fault.message : undefined;
  return (
    <Card title="Create account" about="It can sign in with a link of the command line at once.">
      {fault?.param === null && <Notice mood="bad">{fault.message}</Notice>}
      <form class="filters" method="post" action={PATH}>
        <Field
          label="Name"
          name="name"
          fault={said('name')}
          input={{
            type: 'text',
            required: true,
            maxLength: 100,
            value: form.get('name') ?? '',
            autoComplete: 'off',
            placeholder: 'ada@example.org',
          }}
        />
        <Field
          label="Credit, in dollars"
          name="credit"
          fault={said('credit')}
          input={{
            type: 'text',
            inputMode: 'decimal',
            value: form.get('credit') ?? '',
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
          {props.accounts.map(({ id, name, balance_nano, held_nano, created_ms }) => (
            <tr>
              <td class="lead">
                <a href={`${PATH}/${encodeURIComponent(id)}`}>
                  <strong>{name}</strong>
                </a>
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
