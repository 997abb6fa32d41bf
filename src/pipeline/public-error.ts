import type { Logger } from 'pino';
import { GatewayError } from '../core/errors.js';
import { StoreUnreachable } from '../store/store-error.js';

/** Long enough for most restarts of a database, with the two retries of common clients. */
const STORE_RETRY_S = '5';

/**
 * The part of an error that clients may see. An error that is the gateway's fault, or its store's,
 * is logged whole.
 */
export function logPublicError(
  request_id: string,
  error: unknown,
  log: Logger,
): { public_error: GatewayError; status: number } {
  const public_error = publicErrorOf(error);
  if (error instanceof StoreUnreachable) {
    log.error({ request_id, err: error }, 'a request failed: the store cannot be reached');
  } else if (public_error.code === 'internal_error') {
    log.error({ request_id, err: error }, 'a request failed');
  }
  return { public_error, status: isRefusal(error) ? error.status : public_error.status };
}

/** The same, of an error that is logged elsewhere. */
export function publicErrorOf(error: unknown): GatewayError {
  if (error instanceof StoreUnreachable) return storeUnreachable();
  return error instanceof GatewayError ? error : (refusal(error) ?? internal());
}

/** The error of an operator's own stage that refuses as Koa does, by `ctx.throw(403, message)`. */
function refusal(error: unknown): GatewayError | undefined {
  if (!isRefusal(error)) return undefined;
  return new GatewayError('invalid_request', error.message, { cause: error });
}

function isRefusal(error: unknown): error is Error & { status: number } {
  if (!(error instanceof Error) || error instanceof GatewayError) return false;
  const { status, expose } = error as { status?: unknown; expose?: unknown };
  return expose === true && typeof status === 'number' && status >= 400 && status <= 499;
}

function storeUnreachable(): GatewayError {
  const message = "The gateway's store cannot be reached: try again in a moment.";
  return new GatewayError('overloaded', message, { headers: { 'retry-after': STORE_RETRY_S } });
}

function internal(): GatewayError {
  return new GatewayError('internal_error', 'The gateway failed to handle this request.');
}
