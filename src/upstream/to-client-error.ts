import { GatewayError, type ErrorCode } from '../core/errors.js';
import type { Fault, UpstreamError } from '../core/upstream-error.js';

/** The faults of the client and of the gateway. Any other is the upstream's and becomes 502. */
const CLIENT_CODES: Partial<Record<Fault, ErrorCode>> = {
  rejected: 'invalid_request',
  context: 'context_length_exceeded',
  policy: 'content_policy_violation',
  unsupported: 'invalid_request',
  busy: 'overloaded',
};

/** The client's error for a failed upstream call. It keeps `Retry-After`. */
export function toClientError(error: UpstreamError): GatewayError {
  const code = CLIENT_CODES[error.fault] ?? 'upstream_error';
  const headers: Record<string, string> =
    error.retry_after === undefined ? {} : { 'retry-after': error.retry_after };
  const { param } = error;
  return new GatewayError(code, error.message, {
    headers,
    cause: error,
    ...(param !== undefined && { param }),
  });
}

/** Whether another upstream may answer the same request. */
export function isRetryable({ fault }: UpstreamError): boolean {
  return fault !== 'rejected' && fault !== 'policy';
}

/** The statuses of a server that failed. Behind others, such as 504, it may have answered. */
const FAILED_STATUSES: ReadonlySet<number> = new Set([500, 502]);

/**
 * Whether the same upstream may get the same call again: a repeat may succeed, and the upstream
 * bills nothing for the call that failed. One that bills errors is asked again only if it refused
 * the call or was not reached.
 */
export function isRepeatable(error: UpstreamError, bills_errors: boolean): boolean {
  const { fault, status, reached, is_taken_up, is_too_large } = error;
  if (is_taken_up || is_too_large) return false;
  if (fault === 'unreachable' || fault === 'rate_limited') return true;
  if (fault === 'timeout') return reached === 'nothing';
  if (bills_errors) return false;
  if (fault === 'overloaded') return true;
  return fault === 'broken' && status !== undefined && FAILED_STATUSES.has(status);
}

/** The faults for which an upstream is left alone, whatever the client has sent. */
const OWN_FAULTS: ReadonlySet<Fault> = new Set<Fault>([
  'credentials',
  'quota',
  'rate_limited',
  'overloaded',
  'timeout',
  'unreachable',
]);

/**
 * Whether a failed call says that the upstream will fail at others too. An answer of no use may be
 * owed to the request.
 */
export function isOwnFailure({ fault, status, reached, is_too_large }: UpstreamError): boolean {
  if (is_too_large) return false;
  if (OWN_FAULTS.has(fault)) return true;
  return fault === 'broken' && (reached !== undefined || (status !== undefined && status >= 500));
}

/** The longest wait that an upstream can ask for; one that asks for more is not asked again. */
export const LONGEST_RETRY_WAIT_MS = 10_000;

/** How long the upstream wants to be left alone; undefined if it does not say. */
export function retryAfterMs(
  { retry_after }: Pick<UpstreamError, 'retry_after'>,
  now_ms: number,
): number | undefined {
  if (retry_after === undefined) return undefined;
  const seconds = Number(retry_after);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(retry_after) - now_ms;
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}
