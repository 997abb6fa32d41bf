import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { IdempotencyClaim } from '../billing/idempotency-claim.js';
import { GatewayError } from '../core/errors.js';
import type { Services } from '../pipeline/services.js';
import { fact, type State } from '../pipeline/stage.js';
import type { StoredResponse } from '../store/idempotency/idempotency-types.js';

/** Printable characters of ASCII. */
const KEY = /^[\x20-\x7E]{1,255}$/u;
const WAIT_S = '1';

/**
 * The claim of a request to its `Idempotency-Key`; undefined without one, and for work whose answer
 * cannot be kept, such as a stream. Throws `GatewayError` (400) for a key that is none.
 */
export function claimOf(
  req: IncomingMessage,
  state: State,
  { store, configuration, now }: Services,
): IdempotencyClaim | undefined {
  const key = req.headers['idempotency-key'];
  if (key === undefined || state.work?.repeatable === false) return undefined;
  if (typeof key !== 'string' || !KEY.test(key)) {
    const message = 'The Idempotency-Key must be 1 to 255 printable ASCII characters.';
    throw new GatewayError('invalid_request', message);
  }
  return new IdempotencyClaim(store, {
    account_id: fact(state, 'caller').account_id,
    request_id: state.request_id,
    key_sha256: hash('sha256', key),
    request_sha256: hash('sha256', fingerprint(req, state)),
    due_ms: now() + configuration.limits.idempotency_ms,
  });
}

function fingerprint({ method, url = '' }: IncomingMessage, state: State): string {
  const path = url.split('?', 1)[0] ?? '';
  try {
    return `${method} ${path}\n${JSON.stringify(state.request?.body)}`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = 'The body is nested too deep to be repeated under an Idempotency-Key.';
    throw new GatewayError('invalid_request', message, { cause: error });
  }
}

/**
 * Claims the key for this request. Resolves with undefined if the request is to run, or with the
 * stored response if it is a repetition. Throws `GatewayError` if another request has the key.
 */
export async function takeOrReplay(claim: IdempotencyClaim): Promise<StoredResponse | undefined> {
  const begun = await claim.take();
  switch (begun.is) {
    case 'new':
      return undefined;
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
      return begun.answer;
    }
  }
}

/** The header stops client libraries that would retry in vain. */
function notKept(): GatewayError {
  return new GatewayError(
    'idempotency_answer_gone',
    'The request with this Idempotency-Key was answered, but its answer was not kept, as happens ' +
      'to very large and to older ones. It is not made again, nor charged again.',
    { headers: { 'x-should-retry': 'false' } },
  );
}
