import type { Logger } from 'pino';
import { GatewayError } from '../core/errors.js';

/**
 * The part of an error that clients may see. An error that is the gateway's fault is logged whole.
 */
export function publicError(
  request_id: string,
  error: unknown,
  log: Logger,
): { shown: GatewayError; status: number } {
  const shown = error instanceof GatewayError ? error : (refusal(error) ?? internal());
  if (shown.code === 'internal_error') log.error({ request_id, err: error }, 'a request failed');
  return { shown, status: isRefusal(error) ? error.status : shown.status };
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

function internal(): GatewayError {
  return new GatewayError('internal_error', 'The gateway failed to handle this request.');
}
