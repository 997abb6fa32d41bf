import { withoutOption } from '../option.js';
import type { Stage } from '../pipeline.js';

/** The list of models (specification 2.11 and 4.7): made once, as it changes with the file only. */
export const models: Stage = {
  name: 'models',
  shape: withoutOption({ needs: ['caller'], gives: ['reply'] }),
  create: (_option, { configuration }) => {
    const data = [...configuration.models.values()].map(({ id, created, owner }) => ({
      id,
      object: 'model',
      created,
      owned_by: owner,
    }));
    const body = Object.freeze({ object: 'list', data });
    return async (ctx, next) => {
      ctx.state.reply = { kind: 'document', body };
      await next();
    };
  },
};
