import type { GatewayError } from '../../../core/errors.js';
import type { RequestFormat } from '../../../pipeline/modality.js';

const STATUSES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
};

/** An error as Google's clients parse it. They wait as long as its details say. */
export function errorOf({ status: code, message, headers }: GatewayError): object {
  const other = code < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL';
  const { 'retry-after': seconds } = headers;
  const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` };
  const details = code === 429 && seconds !== undefined && { details: [retry] };
  return { error: { code, message, status: STATUSES[code] ?? other, ...details } };
}

/** What all formats of the Gemini API have in common, whatever their modality is. */
export const CONTENT_API = {
  key_header: 'x-goog-api-key',
  key_query: 'key',
  modelOf: (_, { model = '' }) => model,
  error: errorOf,
  error_schema: 'generate-content#/$defs/error',
} as const satisfies Partial<RequestFormat>;
