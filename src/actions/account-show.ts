import { accountOfId, oneAction } from './action.js';
import { accountShape } from './shapes.js';

export const showAccount = oneAction({
  name: 'account show',
  run: ({ store }, { account_id }: { account_id: string }) => accountOfId(store, account_id),
  routes: [
    {
      method: 'GET',
      path: '/api/accounts/:accountID',
      scope: 'accounts:read',
      id: 'readAccount',
      summary: 'Get an account: its balance, the held part of it, and whether it is suspended',
      status: 200,
      answer: 'Account',
    },
  ],
  answer: accountShape,
});

export const showOwnAccount = oneAction({
  name: 'account show-own',
  async run({ store }, { account_id }: { account_id: string }, { email = null, is_operator }) {
    const account = accountShape(await accountOfId(store, account_id));
    return { ...account, email, operator: is_operator };
  },
  routes: [
    {
      method: 'GET',
      path: '/api/account',
      id: 'getAccount',
      summary: 'Get your account: its balance, the held part of it, and the rest',
      status: 200,
      answer: 'OwnAccount',
    },
  ],
  answer: (account) => account,
});
