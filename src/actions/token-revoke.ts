import { NotThere, oneAction } from './action.js';

export const revokeToken = oneAction({
  name: 'token revoke',
  fields: {
    token_id: { typed: '<token_id>', about: 'the id that "token list" shows', type: 'text' },
  },
  async run({ store }, { token_id }: { token_id: string }, { actor }) {
    const revoked = await store.tokens.revoke(token_id, actor);
    const token = revoked && (await store.tokens.list()).find(({ id }) => id === token_id);
    if (token) return token;
    throw new NotThere(
      'There is no such token, or it has ended already.',
      `there is no active token "${token_id}"; "tollgate token list" shows all`,
    );
  },
  command: {
    about: 'revoke a token, at once',
    example: 'tollgate token revoke mgt_1a2b3c',
    document: ({ id }) => ({ id, revoked: true }),
    lines: ({ id, name }) => [`Revoked ${id} (${name}): it is refused from now on.`],
  },
});
