import { accountOfId, oneAction } from './action.js';
import { withOwnAllowances } from './limit-terms.js';
import { limitedAccountShape } from './shapes.js';

export const showAccount = oneAction({
  name: 'account show',
  run: async ({ store }, { account_id }: { account_id: string }) =>
    withOwnAllowances(store, 'account', await accountOfId(store, account_id)),
  routes: [
    {
      method: 'GET',
      path: '/api/accounts/:accountID',
      scope: 'accounts:read',
      id: 'readAccount',
      summary: 'Get an account: its balance, its limits, and whether it is suspended',
      status: 200,
      answer: 'LimitedAccount',
    },
  ],
  answer: limitedAccountShape,
});

export const showOwnAccount = oneAction({
  name: 'account show-own',
  async run({ store }, { account_id }: { account_id: string }, { email = null, is_operator }) {
    const account = await accountOfId(store, account_id);
    const limited = await withOwnAllowances(store, 'account', account);
    return { ...limitedAccountShape(limited), email, operator: is_operator };
  },
  routes: [
    {
      method: 'GET',
      path: '/api/account',
      id: 'getAccount',
      summary: 'Get your account: its balance, its limits, and what is left of them',
      status: 200,
      answer: 'OwnAccount',
    },
  ],
  answer: (account) => account,
});
