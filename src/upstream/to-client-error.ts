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
