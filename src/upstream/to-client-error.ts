import { GatewayError, type ErrorCode } from '../core/errors.js';
import type { Fault, UpstreamError } from '../core/upstream-error.js';

/** The faults that the client can mend; everything else is the upstream's, hence 502. */
const CLIENT_CODES: Partial<Record<Fault, ErrorCode>> = {
  rejected: 'invalid_request',
  context: 'context_length_exceeded',
  policy: 'content_policy_violation',
};

/** What the client is told about a failed upstream call, `Retry-After` kept. */
export function toClientError(error: UpstreamError): GatewayError {
  const code = CLIENT_CODES[error.fault] ?? 'upstream_error';
  const headers: Record<string, string> =
    error.retry_after === undefined ? {} : { 'retry-after': error.retry_after };
  return new GatewayError(code, error.message, { headers, cause: error });
}

/** True where another upstream may well answer what this one did not. */
export function isRetryable({ fault }: UpstreamError): boolean {
  return fault !== 'rejected' && fault !== 'policy';
}
