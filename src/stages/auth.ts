import { hash } from 'node:crypto';
import { addressReader } from '../client-address.js';
import { unauthorized } from '../errors.js';
import { withoutOption } from '../option.js';
import type { Context, Stage } from '../pipeline.js';

/** Who calls, from `Authorization: Bearer <API_KEY>` (specification 5). */
export const auth: Stage = {
  name: 'auth',
  shape: withoutOption({ needs: [], gives: ['caller'] }),
  create: (_option, { store, configuration, throttles }) => {
    const most = configuration.limits.failed_keys;
    const addressOf = addressReader(configuration.trusted_proxies);
    return async (ctx, next) => {
      const caller = await store.caller(hash('sha256', bearer(ctx)));
      // Only who fails is counted, and only who fails is refused: many may share an address.
      if (!caller) {
        throttles.failed_keys.pass(addressOf(ctx.req), most, 'API keys that are not valid');
        throw unauthorized('The API key is not valid.');
      }
      ctx.state.caller = caller;
      await next();
    };
  },
};

function bearer(ctx: Context): string {
  const header = ctx.req.headers.authorization;
  if (header === undefined) {
    throw unauthorized('The API key is missing: send it as "Authorization: Bearer <API_KEY>".');
  }
  const secret = /^Bearer +(\S+) *$/iu.exec(header)?.[1];
  if (secret === undefined) {
    throw unauthorized('The Authorization header must be "Bearer <API_KEY>".');
  }
  return secret;
}
