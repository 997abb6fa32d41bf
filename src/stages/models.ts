import { withoutOption, fact, type Stage } from '../pipeline/stage.js';

/**
 * Answers the list of models (specification 2.11 and 4.7). It changes with the file only, so it is
 * made once. A key that is limited to some models gets those only.
 */
export const models: Stage = {
  name: 'models',
  shape: withoutOption({ needs: ['caller'], gives: ['answer'] }),
  create: (_option, { configuration }) => {
    const data = [...configuration.models.values()].map(({ id, created, owner }) => ({
      id,
      object: 'model',
      created,
      owned_by: owner,
    }));
    const body = Object.freeze({ object: 'list', data });
    const listOf = (allowed: readonly string[]): object => ({
      object: 'list',
      data: data.filter(({ id }) => allowed.includes(id)),
    });
    return async (ctx, next) => {
      const allowed = fact(ctx.state, 'caller').models;
      const list = allowed ? listOf(allowed) : body;
      ctx.state.answer = { body: () => list };
      await next();
    };
  },
};
