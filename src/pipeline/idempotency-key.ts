import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { IdempotentRequest } from '../billing/idempotent-request.js';
import { GatewayError } from '../core/errors.js';
import type { StoredResponse } from '../store/idempotency/idempotency-types.js';
import type { Services } from './services.js';
import { fact, type State } from './stage.js';

/** Printable characters of ASCII. */
const KEY = /^[\x20-\x7E]{1,255}$/u;
const WAIT_S = '1';

/**
 * The request under its `Idempotency-Key`; undefined without one, and for work whose answer cannot
 * be kept, such as a stream. Throws `GatewayError` (400) for a key that is none.
 */
export function repeatableOf(
  req: IncomingMessage,
  state: State,
  { store, configuration, now }: Services,
): IdempotentRequest | undefined {
  const key = req.headers['idempotency-key'];
  if (key === undefined || state.work?.repeatable === false) return undefined;
  if (typeof key !== 'string' || !KEY.test(key)) {
    const message = 'The Idempotency-Key must be 1 to 255 printable ASCII characters.';
    throw new GatewayError('invalid_request', message);
  }
  return new IdempotentRequest(store, {
    account_id: fact(state, 'caller').account_id,
    request_id: state.request_id,
    key_sha256: hash('sha256', key),
    asked_sha256: hash('sha256', asked(req, state)),
    due_ms: now() + configuration.limits.idempotency_ms,
  });
}

function asked({ method, url = '' }: IncomingMessage, state: State): string {
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
 * Begins a request: undefined for the one that is to run, and for a repeated one the response that
 * was kept. Throws `GatewayError` for any other.
 */
export async function keptResponse(
  repeatable: IdempotentRequest,
): Promise<StoredResponse | undefined> {
  const begun = await repeatable.begin();
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

/** There is no use in asking again, which the header tells clients that otherwise would. */
function notKept(): GatewayError {
  return new GatewayError(
    'idempotency_answer_gone',
    'The request with this Idempotency-Key was answered, but its answer was not kept, as happens ' +
      'to very large and to older ones. It is not made again, nor charged again.',
    { headers: { 'x-should-retry': 'false' } },
  );
}
