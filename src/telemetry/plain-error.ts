import { GatewayError } from '../core/errors.js';
import { UpstreamError } from '../core/upstream-error.js';
import { StoreUnreachable } from '../store/store-error.js';

const MESSAGE_CHARACTERS = 300;
const WITHHELD = 'The upstream refused the request.';

/**
 * The parts of an error that the log may have. Others may hold the headers and keys of a call. The
 * fault of an upstream or of the store's machine has no stack: it would only name lines of the
 * gateway, at each call of an outage.
 */
export function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const upstreams = upstreamError(error);
  if (upstreams) return { name, ...upstreamFault(upstreams) };
  if (error instanceof StoreUnreachable) return { name, message, ...codeOfCause(cause) };
  return { name, message, stack, ...(cause !== undefined && { cause: plainError(cause) }) };
}

/** `{ code: 'SQLITE_FULL' }`, if the driver gave a code. */
function codeOfCause(cause: unknown): { code?: string } {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? { code } : {};
}

function upstreamError(error: Error): UpstreamError | undefined {
  const found = error instanceof GatewayError ? error.cause : error;
  return found instanceof UpstreamError ? found : undefined;
}

/** The log fields of an upstream's fault. A message that may repeat a prompt is left out. */
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

/** A system code such as ECONNREFUSED, or the message of a signer. */
function reasonOf(cause: Error): string {
  const reason = 'code' in cause ? String(cause.code) : cause.message;
  return reason.slice(0, MESSAGE_CHARACTERS);
}
