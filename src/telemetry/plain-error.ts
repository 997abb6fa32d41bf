import { GatewayError } from '../core/errors.js';
import { UpstreamError } from '../core/upstream-error.js';

const MESSAGE_CHARACTERS = 300;
const WITHHELD = 'The upstream refused the request.';

/**
 * Writes these parts of an error only, since others may hold a call's headers and keys. An
 * upstream's fault has no stack, as it would name the gateway's own lines alone.
 */
export function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const upstreams = upstreamError(error);
  if (upstreams) return { name, ...upstreamFault(upstreams) };
  return { name, message, stack, ...(cause !== undefined && { cause: plainError(cause) }) };
}

function upstreamError(error: Error): UpstreamError | undefined {
  const found = error instanceof GatewayError ? error.cause : error;
  return found instanceof UpstreamError ? found : undefined;
}

/** An upstream's fault in the fields of one line. A message that may repeat a prompt stays out. */
export function upstreamFault(error: UpstreamError) {
  const { fault, status, codes, isQuoted, cause } = error;
  const message = isQuoted ? WITHHELD : error.message.slice(0, MESSAGE_CHARACTERS);
  const reason = !isQuoted && cause instanceof Error ? reasonOf(cause) : undefined;
  return {
    fault,
    ...(status !== undefined && { status }),
    ...(codes.length > 0 && { codes: codes.join(', ').slice(0, MESSAGE_CHARACTERS) }),
    message,
    ...(reason !== undefined && !codes.includes(reason) && { cause: reason }),
  };
}

/** Such as ECONNREFUSED, or what a signer of the operator's says. */
function reasonOf(cause: Error): string {
  const reason = 'code' in cause ? String(cause.code) : cause.message;
  return reason.slice(0, MESSAGE_CHARACTERS);
}
