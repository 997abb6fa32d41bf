import { enforceRate } from '../http/rate-limit.js';
import { hash } from 'node:crypto';
import { AgentNames } from '../http/agent-names.js';
import { addressReader } from '../http/client-address.js';
import { accountSuspended, unauthorized } from '../core/errors.js';
import { withoutOption, type Context, type Stage } from '../pipeline/stage.js';
import {
  formatOf,
  clientFormatReader,
  type Modalities,
  type RequestFormat,
} from '../pipeline/modality.js';

/** One for the process: its bound is that of the names in the records. */
const agents = new AgentNames();

/**
 * Finds the caller by the key in `Authorization: Bearer <API_KEY>` (specification 5), or in the
 * header or query parameter of the endpoint's format.
 */
export const auth = (modalities: Modalities): Stage => ({
  name: 'auth',
  shape: withoutOption({ needs: [], gives: ['caller'] }),
  create: (_option, { store, configuration, rate_limiters }, endpoint) => {
    const max_per_minute = configuration.limits.failed_keys;
    const addressOf = addressReader(configuration.trusted_proxies);
    const format = formatOf(modalities, endpoint);
    const clientFormat = clientFormatReader(modalities, endpoint);
    return async (ctx, next) => {
      const secret_sha256 = hash(
        'sha256',
        secretOf(ctx, format ?? clientFormat?.(ctx.req.headers)),
      );
      const caller = await store.caller(secret_sha256);
      if (!caller) {
        // The rate limit counts and refuses unknown keys only. Many clients may share an address,
        // and a program with a revoked key gets 401 however often it asks.
        const isGuess = !(await store.isKey(secret_sha256));
        if (isGuess)
          await enforceRate(
            rate_limiters.failed_keys,
            addressOf(ctx.req),
            max_per_minute,
            'wrong API keys',
          );
        throw unauthorized('The API key is not valid.');
      }
      ctx.state.caller = caller;
      const { notes } = ctx.state;
      if (notes) {
        notes.auth_ms = notes.elapsed_ms;
        notes.agent = agents.nameOfAgent(ctx.req.headers['user-agent']);
      }
      if (caller.suspended) throw accountSuspended();
      await next();
    };
  },
});

/** The key from the format's own header or query parameter, else from `Authorization`. */
function secretOf(
  ctx: Context,
  { key_header = '', key_query }: Partial<RequestFormat> = {},
): string {
  if (key_header === '' && key_query === undefined) return bearer(ctx, key_header);
  const query_key = key_query === undefined ? undefined : ctx.query[key_query];
  const own = [ctx.req.headers[key_header], query_key].find(
    (value) => value && !Array.isArray(value),
  );
  return own === undefined ? bearer(ctx, key_header) : String(own).trim();
}

function bearer(ctx: Context, key_header: string): string {
  const header = ctx.req.headers.authorization;
  if (header === undefined) {
    const own = key_header && ` or "${key_header}: <API_KEY>"`;
    throw unauthorized(
      `The API key is missing: send it as "Authorization: Bearer <API_KEY>"${own}.`,
    );
  }
  // fal's clients write `Key` in place of `Bearer`.
  const secret = /^(?:Bearer|Key) +(\S+) *$/iu.exec(header)?.[1];
  if (secret === undefined) {
    throw unauthorized('The Authorization header must be "Bearer <API_KEY>".');
  }
  return secret;
}
