/** Each error code's HTTP status, and the `type` that OpenAI clients parse. */
export const ERRORS = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  model_not_found: { status: 400, type: 'invalid_request_error' },
  model_not_allowed: { status: 400, type: 'invalid_request_error' },
  unsupported_capability: { status: 400, type: 'invalid_request_error' },
  context_length_exceeded: { status: 400, type: 'invalid_request_error' },
  content_policy_violation: { status: 400, type: 'invalid_request_error' },
  invalid_request_id: { status: 400, type: 'invalid_request_error' },
  provider_mismatch: { status: 400, type: 'invalid_request_error' },
  previous_response_not_found: { status: 400, type: 'invalid_request_error' },
  websocket_connection_limit_reached: { status: 400, type: 'invalid_request_error' },
  invalid_content_index: { status: 400, type: 'invalid_request_error' },
  too_late_to_cancel: { status: 400, type: 'invalid_request_error' },
  idempotency_key_reused: { status: 400, type: 'invalid_request_error' },
  invalid_api_key: { status: 401, type: 'authentication_error' },
  invalid_token: { status: 401, type: 'authentication_error' },
  sign_in_required: { status: 401, type: 'authentication_error' },
  insufficient_balance: { status: 402, type: 'insufficient_balance_error' },
  key_limit_reached: { status: 402, type: 'insufficient_balance_error' },
  allowance_reached: { status: 402, type: 'insufficient_balance_error' },
  account_suspended: { status: 403, type: 'permission_error' },
  forbidden: { status: 403, type: 'permission_error' },
  not_found: { status: 404, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  idempotency_key_running: { status: 409, type: 'invalid_request_error' },
  idempotency_answer_gone: { status: 409, type: 'invalid_request_error' },
  body_too_large: { status: 413, type: 'invalid_request_error' },
  unsupported_encoding: { status: 415, type: 'invalid_request_error' },
  range_not_satisfiable: { status: 416, type: 'invalid_request_error' },
  upgrade_required: { status: 426, type: 'invalid_request_error' },
  rate_limited: { status: 429, type: 'rate_limit_error' },
  headers_too_large: { status: 431, type: 'invalid_request_error' },
  internal_error: { status: 500, type: 'internal_error' },
  upstream_error: { status: 502, type: 'upstream_error' },
  overloaded: { status: 503, type: 'unavailable_error' },
  draining: { status: 503, type: 'unavailable_error' },
} as const satisfies Record<string, { status: number; type: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** The body of an error in the common shape. `param` names the request field at fault. */
export interface ErrorBody {
  error: { message: string; type: string; code: ErrorCode; param: string | null };
}

/** What an error has beside its code and message. */
export interface ErrorDetails {
  /** The request field at fault, written as `messages[2].content`. */
  param?: string;
  /** Replaces the status of the code. */
  status?: number;
  headers?: Record<string, string>;
  /** More for programs, in the words of one API: only its own error shape shows it. */
  details?: object;
  cause?: unknown;
}

/**
 * The only error whose message a client sees. The message must hold no secret and no internals. Any
 * other error is answered as `internal_error`.
 */
export class GatewayError extends Error {
  readonly status: number;
  readonly param: string | null;
  readonly headers: Record<string, string>;
  readonly details: object | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    details: ErrorDetails = {},
  ) {
    super(message, { cause: details.cause });
    this.name = 'GatewayError';
    this.status = details.status ?? ERRORS[code].status;
    this.param = details.param ?? null;
    this.headers = details.headers ?? {};
    this.details = details.details;
  }

  /** The body of an error answer, and of the error event in a stream. */
  toJSON(): ErrorBody {
    const { type } = ERRORS[this.code];
    return { error: { message: this.message, type, code: this.code, param: this.param } };
  }
}

/** The client has disconnected, so no answer is needed. */
export class ClientDisconnected extends Error {
  override name = 'ClientDisconnected';
  constructor(
    /** Whether the upstream call ended before anything was sent. */
    readonly before_sent = false,
  ) {
    super('The client closed the connection.');
  }
}

/** Whether the gateway has ended a request because it stops. That is no fault of an upstream. */
export function isStop(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'draining';
}

/** Refuses a field of a request: throws 400, `PARAM COMPLAINT.`. */
export function refuseField(param: string, complaint: string): never {
  throw fieldError(param, complaint);
}

/** The error of a field of a request: 400, `PARAM COMPLAINT.`. */
export function fieldError(param: string, complaint: string): GatewayError {
  return new GatewayError('invalid_request', `${param} ${complaint}.`, { param });
}

/** The refusal of a model that gateway.yaml does not have; `status` replaces 400. */
export function modelNotFound(id: string, status?: number): GatewayError {
  const message = `There is no model "${id}"; GET /v1/models lists the available models.`;
  return new GatewayError('model_not_found', message, {
    param: 'model',
    ...(status && { status }),
  });
}

/** The refusal of a model that the API key may not use. */
export function modelNotAllowed(id: string): GatewayError {
  const message = `This API key may not use the model "${id}"; GET /v1/models lists its models.`;
  return new GatewayError('model_not_allowed', message, { param: 'model' });
}

/** The refusal of an API key, or of a request without one. */
export function unauthorized(message: string): GatewayError {
  return new GatewayError('invalid_api_key', message, {
    headers: { 'www-authenticate': 'Bearer' },
  });
}

/** The refusal of an API key whose account is suspended. */
export function accountSuspended(): GatewayError {
  const message = 'The account of this API key is suspended. Only its operator can resume it.';
  return new GatewayError('account_suspended', message);
}

/**
 * The option of a stage is wrong. The message is a sentence; `choices` are the right words, if
 * known.
 */
export class OptionError extends Error {
  override name = 'OptionError';
  constructor(
    message: string,
    readonly choices: readonly string[] = [],
    /** The part of the option that is wrong, such as `also/0`; empty for the whole. */
    readonly part = '',
  ) {
    super(message);
  }
}
