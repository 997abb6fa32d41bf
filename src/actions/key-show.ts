import { accountOfId, NotThere, oneAction } from './action.js';
import { withOwnAllowances } from './limit-terms.js';
import { accountShape, keyShape, limitShape } from './shapes.js';

/** The key that asks, so that a program can see what is left of its limits. */
export const showCallingKey = oneAction({
  name: 'key show',
  async run({ store }, { account_id }: { account_id: string }, { key_id = '' }) {
    const key = await store.key(key_id);
    if (!key) throw new NotThere('There is no such key.', `there is no key "${key_id}"`);
    return {
      key: await withOwnAllowances(store, 'key', key),
      account: await withOwnAllowances(store, 'account', await accountOfId(store, account_id)),
    };
  },
  routes: [
    {
      method: 'GET',
      path: '/api/key',
      takes_keys: 'alone',
      id: 'getKey',
      summary: 'Get the terms of the key that asks, and what is left of each limit',
      status: 200,
      answer: 'CallingKey',
    },
  ],
  answer: ({ key, account }) => ({
    ...keyShape(key),
    account: { available: accountShape(account).available, ...limitShape(account) },
  }),
});
