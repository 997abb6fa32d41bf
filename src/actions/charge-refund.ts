import { chargedTaskOf } from '../billing/charged-task.js';
import { formatDollars, parseDollars, withDollarSign } from '../lib/money.js';
import type { AccountRefund } from '../schema-types/account-refund.js';
import type { RefundableCharge } from '../store/ledger/refund.js';
import { NoCharge } from '../store/store-error.js';
import type { Store } from '../store/store-types.js';
import { accountOfId, asInvalid, NotThere, oneAction, readReference } from './action.js';
import { accountShape, balanceClause, bookingDocument, entryShape } from './shapes.js';

interface Refund extends AccountRefund {
  /** Without it, of any account. */
  account_id?: string;
}

export const refundCharge = oneAction({
  name: 'refund',
  schema: 'account-refund',
  fields: {
    request_id: {
      typed: '<request_id>',
      about: 'the x-request-id of the request, or the request_id of a task',
      type: 'text',
    },
    amount: {
      typed: '--amount <dollars>',
      about: 'a part, such as 0.10; all that is left otherwise',
      type: 'dollars',
      form: { label: 'Amount, in dollars' },
    },
    reference: {
      typed: '--reference <text>',
      about: 'the same reference twice refunds once',
      type: 'text',
      form: {
        label: 'Reference',
        hint: 'The same reference refunds once, however often it is sent.',
        max: 200,
      },
    },
  },
  async run({ store, now }, { account_id, request_id, amount, reference }: Refund, { actor }) {
    const charge = { request_id, ...(account_id !== undefined && { account_id }) };
    const refund = {
      ...charge,
      ...(amount !== undefined && { amount_nano: parseDollars(amount) }),
      ...(reference !== undefined && { reference: await readReference(reference) }),
    };
    const began_ms = now();
    const refunded = () => asInvalid('amount', () => store.refund(refund, actor));
    const entry = await explainNoCharge(store, charge, refunded);
    const is_repeat = entry.created_ms < began_ms;
    return { entry, account: await accountOfId(store, entry.account_id), is_repeat };
  },
  routes: [
    {
      method: 'POST',
      path: '/api/accounts/:accountID/refunds',
      scope: 'refunds:write',
      id: 'refundCharge',
      summary: 'Refund a charge or a part of it; the same reference twice refunds once',
      status: 200,
      answer: 'Credited',
    },
  ],
  answer: ({ entry, account }) => ({
    entry: entryShape(entry, true),
    account: accountShape(account),
  }),
  command: {
    about: 'give a charge back, or a part of it',
    example: 'tollgate refund 0199e0c4-7a53-7d6e-b1f8-2d1c5a9e4b70 --amount 0.10',
    document: bookingDocument,
    lines({ entry: { amount_nano, reference }, account, is_repeat }) {
      const given = withDollarSign(formatDollars(amount_nano));
      const done = `Refunded ${given} to ${account.name}`;
      const repeated = `The reference "${reference}" has refunded ${given} before`;
      return [`${is_repeat ? repeated : done}: ${balanceClause(account)}`];
    },
  },
});

/** A charge of the account, with the refundable amount. Throws `NotThere`. */
export function refundableCharge(
  store: Store,
  account_id: string,
  request_id: string,
): Promise<RefundableCharge> {
  const charge = { request_id, account_id };
  return explainNoCharge(store, charge, () => store.refundable(charge));
}

/** Turns `NoCharge` into `NotThere`, which names the charge of a video that the request fetched. */
async function explainNoCharge<T>(
  store: Store,
  charge: { request_id: string; account_id?: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NoCharge)) throw error;
    const task = await chargedTaskOf(store, charge);
    const there = `that of its submission, ${task?.id}: refund that`;
    const none = `there is no charge of "${charge.request_id}"`;
    throw task
      ? new NotThere(
          `The request fetched a video whose charge is ${there}.`,
          `${none}; it fetched a video whose charge is ${there}`,
        )
      : new NotThere('There is no such charge.', `${none}; "tollgate ledger ACCOUNT" shows them`);
  }
}
