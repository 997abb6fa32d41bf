import { hash } from 'node:crypto';
import { Repeatable } from '../billing/idempotent-request.js';
import { GatewayError } from '../core/errors.js';
import { fact, type Context, type Services } from './stage.js';

/** Printable characters of ASCII. */
const KEY = /^[\x20-\x7E]{1,255}$/u;
const WAIT_S = '1';

/**
 * What a request says of being repeated, by its `Idempotency-Key`. A stream is not kept, so there
 * the header means nothing. Throws `GatewayError` (400) for a key that is none.
 */
export function repeatableOf(ctx: Context, { store, configuration, now }: Services) {
  const key = ctx.req.headers['idempotency-key'];
  if (key === undefined || isStream(ctx)) return undefined;
  if (typeof key !== 'string' || !KEY.test(key)) {
    const message = 'The Idempotency-Key must be 1 to 255 printable ASCII characters.';
    throw new GatewayError('invalid_request', message);
  }
  return new Repeatable(store, {
    account_id: fact(ctx, 'caller').account_id,
    request_id: ctx.state.request_id,
    key_sha256: hash('sha256', key),
    asked_sha256: hash('sha256', asked(ctx)),
    due_ms: now() + configuration.limits.idempotency_ms,
  });
}

function isStream({ state: { work } }: Context): boolean {
  return work?.kind === 'chat' && work.call.stream;
}

function asked({ method, path, state }: Context): string {
  try {
    return `${method} ${path}\n${JSON.stringify(state.request?.body)}`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = 'The body is nested too deep to be repeated under an Idempotency-Key.';
    throw new GatewayError('invalid_request', message, { cause: error });
  }
}

/**
 * Begins a call. True where it was made before, and that one's answer is the reply; false for the
 * one that is to run. Throws `GatewayError` for any other.
 */
export async function isRepeated(ctx: Context, repeatable: Repeatable): Promise<boolean> {
  const begun = await repeatable.begin();
  switch (begun.is) {
    case 'new':
      return false;
    case 'other':
      throw new GatewayError(
        'idempotency_key_reused',
        'The Idempotency-Key was sent before with another request: use a new one for each.',
      );
    case 'running':
      throw new GatewayError(
        'idempotency_key_running',
        'A request with this Idempotency-Key is still running: repeat it in a moment.',
        { headers: { 'retry-after': WAIT_S } },
      );
    case 'answered': {
      if (begun.answer === null) throw notKept();
      const { status, text } = begun.answer;
      ctx.set('idempotent-replayed', 'true');
      ctx.state.reply = { kind: 'repeat', status, text };
      return true;
    }
  }
}

/** There is no use in asking again, which the header tells clients that otherwise would. */
function notKept(): GatewayError {
  return new GatewayError(
    'idempotency_answer_gone',
    'The request with this Idempotency-Key was answered, but its answer was not kept, as happens ' +
      'to very large and to older ones. It is not made again, nor charged again.',
    { headers: { 'x-should-retry': 'false' } },
  );
}
