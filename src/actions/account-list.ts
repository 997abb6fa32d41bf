import { listAction } from './action.js';
import { isName } from './cursor.js';
import { newestRows } from './newest-rows.js';
import { accountShape } from './shapes.js';

/** A page lists the accounts whose names come after a typed one. */
interface AccountFilter {
  after?: string;
}

export const listAccounts = listAction({
  name: 'account list',
  schema: 'account-query',
  rows({ store }, input: AccountFilter, { limit, after = input.after }) {
    return store.accounts({ limit, ...(isName(after) && after !== '' && { after }) });
  },
  place: { of: ({ name }) => name, is: isName },
  routes: [
    {
      method: 'GET',
      path: '/api/accounts',
      scope: 'accounts:read',
      id: 'listAccounts',
      summary: 'List all accounts by name, page by page',
      status: 200,
      answer: 'AccountPage',
    },
  ],
  shape: accountShape,
  csv: {
    file: 'accounts.csv',
    columns: () => ['id', 'name', 'balance', 'held', 'available', 'created', 'suspended'],
  },
  command: {
    about: 'show the accounts',
    example: 'tollgate account list --json',
    find: async ({ store }, _input, page) => newestRows(await store.accounts(), page),
    none: ({ is_since }) =>
      is_since
        ? 'No account is as new as that.'
        : 'There is no account yet: make one with "account create".',
  },
});
