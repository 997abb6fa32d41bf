import type { KeyEdit } from '../schema-types/key-edit.js';
import { oneAction } from './action.js';
import {
  changingKey,
  KEY_FIELDS,
  liveKey,
  noKey,
  readKeyTerms,
  termSentences,
} from './key-terms.js';
import { RAISE_FIELDS, withOwnAllowances } from './limit-terms.js';
import { keyShape } from './shapes.js';

interface KeyEditing extends KeyEdit {
  key_id: string;
  account_id?: string;
}

export const editKey = oneAction({
  name: 'key edit',
  schema: 'key-edit',
  fields: {
    key_id: { typed: '<key_id>', about: 'the id that "key list" shows', type: 'text' },
    ...KEY_FIELDS,
    ...RAISE_FIELDS,
  },
  takes_none: true,
  async run(services, { key_id, account_id, ...input }: KeyEditing, caller) {
    const { store } = services;
    const before = await liveKey(services, key_id, account_id);
    const change = readKeyTerms(input, services, caller, before);
    const key = await changingKey(change, () => store.editKey(key_id, change, caller.actor));
    if (!key) throw noKey(key_id);
    return withOwnAllowances(store, 'key', key);
  },
  routes: [
    {
      method: 'PATCH',
      path: '/api/keys/:keyID',
      id: 'editKey',
      summary: 'Change the terms of a key, for every process once this answers',
      status: 200,
      answer: 'OneKey',
    },
    {
      method: 'PATCH',
      path: '/api/accounts/:accountID/keys/:keyID',
      scope: 'keys:write',
      id: 'editAccountKey',
      summary: 'Change the terms of a key, for every process once this answers',
      status: 200,
      answer: 'OneKey',
    },
  ],
  answer: keyShape,
  command: {
    about: 'change the terms of an API key',
    example: 'tollgate key edit key_1a2b3c --allowance day=5.00 --limit none',
    details: '\nWhat is left out stays as it is; the word none takes a term away.',
    document: keyShape,
    lines: (key) => [
      `The key ${key.id} (${key.name}) has these terms from now on.`,
      ...termSentences(key),
    ],
  },
});
