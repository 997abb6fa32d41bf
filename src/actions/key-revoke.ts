import { oneAction } from './action.js';
import { noKey } from './key-terms.js';

export const revokeKey = oneAction({
  name: 'key revoke',
  fields: {
    key_id: { typed: '<key_id>', about: 'the id that "key list" shows', type: 'text' },
  },
  async run({ store }, { key_id, account_id }: { key_id: string; account_id?: string }, { actor }) {
    const revoked = await store.revokeKey(key_id, account_id, actor);
    const key = revoked ? await store.key(key_id) : undefined;
    if (key) return key;
    throw noKey(key_id);
  },
  routes: [
    {
      method: 'DELETE',
      path: '/api/keys/:keyID',
      id: 'revokeKey',
      summary: 'Revoke a key; once this answers, every process refuses it',
      status: 204,
    },
    {
      method: 'DELETE',
      path: '/api/accounts/:accountID/keys/:keyID',
      scope: 'keys:write',
      id: 'revokeAccountKey',
      summary: 'Revoke a key; once this answers, every process refuses it',
      status: 204,
    },
  ],
  command: {
    about: 'revoke a key, at once',
    example: 'tollgate key revoke key_1a2b3c',
    document: ({ id }) => ({ id, revoked: true }),
    lines: ({ id, name }) => [`Revoked ${id} (${name}): it is refused from now on.`],
  },
});
