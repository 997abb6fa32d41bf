import type { AccountEdit } from '../schema-types/account-edit.js';
import { ACCOUNT_FIELD, accountOfId, asInvalid, oneAction } from './action.js';
import {
  LIMIT_FIELDS,
  limitSentences,
  RAISE_FIELDS,
  readLimits,
  withOwnAllowances,
} from './limit-terms.js';
import { limitedAccountShape } from './shapes.js';

interface AccountEditing extends AccountEdit {
  account_id: string;
}

export const editAccount = oneAction({
  name: 'account edit',
  schema: 'account-edit',
  fields: { account_id: ACCOUNT_FIELD, ...LIMIT_FIELDS, ...RAISE_FIELDS },
  takes_none: true,
  async run({ store, now }, { account_id, ...input }: AccountEditing, { actor }) {
    await accountOfId(store, account_id);
    const change = readLimits(input, now());
    const account = await asInvalid(input.raise ? 'raise' : 'allowances', () =>
      store.editAccount(account_id, change, actor),
    );
    return withOwnAllowances(store, 'account', account);
  },
  routes: [
    {
      method: 'PATCH',
      path: '/api/accounts/:accountID',
      scope: 'accounts:write',
      id: 'editAccount',
      summary: 'Change the limits of an account, for every process once this answers',
      status: 200,
      answer: 'LimitedAccount',
    },
  ],
  answer: limitedAccountShape,
  command: {
    about: 'change the limits that all keys of an account share',
    example: 'tollgate account edit alice --allowance month=60.00 --concurrent-requests 20',
    details: '\nWhat is left out stays as it is; the word none takes a limit away.',
    document: limitedAccountShape,
    lines: (account) => [
      `The account ${account.name} has these limits from now on.`,
      ...limitSentences(account),
    ],
  },
});
