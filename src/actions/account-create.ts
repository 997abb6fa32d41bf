import { formatDollars, parseDollars, withDollarSign } from '../lib/money.js';
import type { AccountCreation } from '../schema-types/account-creation.js';
import { asInvalid, NAME_CHARACTERS, oneAction, readName } from './action.js';
import { accountShape } from './shapes.js';

export const createAccount = oneAction({
  name: 'account create',
  schema: 'account-creation',
  fields: {
    name: {
      typed: '<name>',
      about: 'a name that no other account has',
      type: 'text',
      form: { label: 'Name', placeholder: 'ada@example.org', max: NAME_CHARACTERS },
    },
    credit: {
      typed: '--credit <dollars>',
      about: 'its opening credit',
      type: 'dollars',
      default: '0',
      form: { label: 'Credit, in dollars', placeholder: '10.00' },
    },
  },
  async run({ store }, input: AccountCreation, { actor }) {
    const name = readName(input.name);
    const credit_nano = parseDollars(input.credit ?? '0');
    return asInvalid('name', () => store.createAccount(name, credit_nano, actor));
  },
  // Otherwise a token without that scope could add credit by making accounts.
  scopeFor: ({ credit = '0' }) => (parseDollars(credit) === 0n ? undefined : 'credit:write'),
  routes: [
    {
      method: 'POST',
      path: '/api/accounts',
      scope: 'accounts:write',
      id: 'createAccount',
      summary: 'Create an account; an initial credit needs the scope credit:write too',
      status: 201,
      answer: 'Account',
    },
  ],
  answer: accountShape,
  command: {
    about: 'make an account, with opening credit if wanted',
    example: 'tollgate account create alice --credit 10.00',
    json: 'print {"id","name","balance"}',
    creates: true,
    document(account) {
      const { id, name, balance } = accountShape(account);
      return { id, name, balance };
    },
    lines({ id, name, balance_nano }) {
      const balance = withDollarSign(formatDollars(balance_nano));
      return [`Made the account ${name} (${id}) with ${balance}.`];
    },
  },
});
