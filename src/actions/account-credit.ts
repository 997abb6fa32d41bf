import { randomUUID } from 'node:crypto';
import { formatDollars, parseDollars, withDollarSign } from '../lib/money.js';
import type { AccountCredit } from '../schema-types/account-credit.js';
import { ACCOUNT_FIELD, accountOfId, asInvalid, oneAction, readReference } from './action.js';
import { bookingDocument, entryShape, accountShape, balanceClause } from './shapes.js';

interface Credit extends Pick<AccountCredit, 'amount'> {
  account_id: string;
  /** The command line may leave it out. */
  reference?: string;
}

export const creditAccount = oneAction({
  name: 'credit',
  schema: 'account-credit',
  fields: {
    account_id: ACCOUNT_FIELD,
    amount: {
      typed: '<amount>',
      about: 'dollars, such as 25.00',
      type: 'dollars',
      form: { label: 'Amount, in dollars', placeholder: '10.00' },
    },
    reference: {
      typed: '--reference <text>',
      about: 'the same reference twice credits once',
      type: 'text',
      form: { label: 'Reference', max: 200 },
    },
  },
  async run({ store, now }, { account_id, amount, ...input }: Credit, { actor }) {
    await accountOfId(store, account_id);
    const reference = await readReference(input.reference ?? randomUUID());
    const began_ms = now();
    const amount_nano = parseDollars(amount);
    const entry = await asInvalid('amount', () =>
      store.credit(account_id, amount_nano, reference, actor),
    );
    const is_repeat = entry.created_ms < began_ms;
    return { entry, account: await accountOfId(store, account_id), is_repeat };
  },
  routes: [
    {
      method: 'POST',
      path: '/api/accounts/:accountID/credit',
      scope: 'credit:write',
      id: 'creditAccount',
      summary: 'Credit an account; the same reference twice credits once',
      status: 200,
      answer: 'Credited',
    },
  ],
  answer: ({ entry, account }) => ({
    entry: entryShape(entry, true),
    account: accountShape(account),
  }),
  command: {
    about: 'add to an account (a negative amount takes back)',
    example: 'tollgate credit alice 25.00 --reference invoice-1042',
    document: bookingDocument,
    lines({ entry: { amount_nano, reference }, account, is_repeat }) {
      const amount = withDollarSign(formatDollars(amount_nano));
      const taken = `Took back ${amount.slice(1)} from ${account.name}`;
      const done = amount_nano >= 0n ? `Credited ${amount} to ${account.name}` : taken;
      const repeated = `The reference "${reference}" has credited ${amount} before`;
      return [`${is_repeat ? repeated : done}: ${balanceClause(account)}`];
    },
  },
});
