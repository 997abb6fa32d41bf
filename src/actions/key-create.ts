import type { KeyCreation } from '../schema-types/key-creation.js';
import { ACCOUNT_FIELD, oneAction } from './action.js';
import { changingKey, KEY_FIELDS, readKeyTerms, termSentences } from './key-terms.js';
import { withOwnAllowances } from './limit-terms.js';
import { keyShape } from './shapes.js';

interface NewKey extends KeyCreation {
  account_id: string;
  /** The ID of the key. `run` throws `IdTaken` if there is a key of that ID already. */
  id?: string;
}

export const createKey = oneAction({
  name: 'key create',
  schema: 'key-creation',
  fields: {
    account_id: ACCOUNT_FIELD,
    ...KEY_FIELDS,
    name: { ...KEY_FIELDS.name, is_required: true },
  },
  async run(services, { account_id, id, ...input }: NewKey, caller) {
    const { store } = services;
    const { name = input.name, allowances, ...change } = readKeyTerms(input, services, caller);
    const terms = {
      ...change,
      ...(allowances?.amounts && { allowances: allowances.amounts }),
      ...(id !== undefined && { id }),
    };
    const made = await changingKey({ ...change, ...(allowances && { allowances }) }, () =>
      store.createKey(account_id, name, terms, caller.actor),
    );
    return { ...made, key: await withOwnAllowances(store, 'key', made.key) };
  },
  routes: [
    {
      method: 'POST',
      path: '/api/keys',
      id: 'createKey',
      summary: 'Create a key; only this answer has its secret',
      status: 201,
      answer: 'NewKey',
    },
    {
      method: 'POST',
      path: '/api/accounts/:accountID/keys',
      scope: 'keys:write',
      id: 'createAccountKey',
      summary: 'Create a key for an account; only this answer has its secret',
      status: 201,
      answer: 'NewKey',
    },
  ],
  answer: ({ key, secret }) => ({ ...keyShape(key), secret }),
  command: {
    about: 'make an API key; its secret is shown once, here',
    example: 'tollgate key create alice --name laptop',
    json: 'print {"id","name","secret"}',
    document: ({ key: { id, name }, secret }) => ({ id, name, secret }),
    lines: ({ key, secret }, { account }) => [
      `Made the key ${key.id} for ${account?.name}. Its secret, shown this once:`,
      secret,
      ...termSentences(key),
    ],
  },
});
