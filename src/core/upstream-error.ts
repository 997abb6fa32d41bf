/** The classes of upstream errors, which lead to different answers. */
export type Fault =
  | 'rejected'
  | 'context'
  | 'policy'
  | 'unsupported'
  | 'credentials'
  | 'missing'
  | 'rate_limited'
  | 'quota'
  | 'overloaded'
  | 'timeout'
  | 'unreachable'
  | 'busy'
  | 'broken';

/** `nothing`: no part of the request was sent. `upstream`: no part of the answer came. */
export type Reached = 'nothing' | 'upstream' | 'answer';

/** The gateway's message for each fault, in place of the upstream's own. */
export const FAULT_MESSAGES: Readonly<Record<Fault, string>> = {
  rejected: 'The upstream rejected the request.',
  context: 'The prompt is too long for the model.',
  policy: 'The upstream refused the content.',
  unsupported: 'The upstream does not support this request.',
  credentials: "The upstream refused the gateway's credentials.",
  missing: 'The upstream does not serve this model.',
  rate_limited: 'The upstream is limiting the rate of calls.',
  quota: "The gateway's account at the upstream is out of credit.",
  overloaded: 'The upstream is overloaded.',
  timeout: 'The upstream timed out.',
  unreachable: 'The upstream is unreachable.',
  busy: 'The gateway has no connection to the upstream left.',
  broken: 'The upstream failed.',
};

/**
 * A failed upstream call. The client can correct `rejected`, `context`, `policy` and `unsupported`,
 * which become 400. A codec throws `unsupported` for a request that its wire format cannot express,
 * although that of another upstream may. `busy` is a limit of the gateway's own: nothing was sent,
 * and it becomes 503. All other faults become 502. The message is for the client: the upstream's
 * own for the first three, the gateway's for the others. It never holds a credential.
 */
export class UpstreamError extends Error {
  override name = 'UpstreamError';
  /** Whether the message may be the upstream's own, and so may repeat text of a customer. */
  readonly isQuoted: boolean;
  /** The message for the record, without text of a customer. */
  readonly kept_message: string;
  /** The field at fault, where it is known. */
  readonly param: string | undefined;
  /** The HTTP status of the upstream's answer, if there was one. */
  readonly status: number | undefined;
  /**
   * The upstream's short codes, or the system's code for the connection, such as ECONNREFUSED. They
   * hold no text of a customer.
   */
  readonly codes: readonly string[];
  /** Where a call ended whose connection failed or timed out; undefined if its answer was read. */
  readonly reached: Reached | undefined;
  /**
   * The upstream has taken up other work of the same request, which it may bill: the call of
   * another part, or the job whose poll failed.
   */
  is_taken_up = false;
  /** The request alone has more tokens than the upstream takes in a minute: a `rate_limited`. */
  readonly is_too_large: boolean;
  constructor(
    readonly fault: Fault,
    message: string,
    /** Seconds, or an HTTP date, as the upstream gave it. */
    readonly retry_after?: string,
    options?: UpstreamErrorOptions,
  ) {
    super(message, options);
    const isClientFault = fault === 'rejected' || fault === 'context' || fault === 'policy';
    this.isQuoted = isClientFault || options?.isQuoted === true;
    this.kept_message = options?.kept_message ?? (this.isQuoted ? FAULT_MESSAGES[fault] : message);
    this.param = options?.param;
    this.status = options?.status;
    this.codes = options?.codes ?? [];
    this.reached = options?.reached;
    this.is_too_large = options?.is_too_large === true;
  }
}

/** The facts of a fault, as the fields of `UpstreamError` describe them. */
export interface UpstreamErrorOptions extends ErrorOptions {
  isQuoted?: boolean;
  kept_message?: string | undefined;
  param?: string;
  status?: number;
  codes?: readonly string[];
  reached?: Reached;
  is_too_large?: boolean;
}

/** The parts of an upstream's error, whatever its shape. Absent texts are ''. */
export interface ErrorWords {
  message: string;
  /** Codes, types and reasons in lower case, by which the error is classified. */
  marks: string;
  /** The marks that are one short word, which cannot hold text of a customer. */
  codes: readonly string[];
  /** The status in the body, for errors inside a 200. */
  status: number | undefined;
  /** Seconds, such as Google's `retryDelay` of "34.4s". */
  retry_seconds: number | undefined;
}

/**
 * Reads an error by the rules of a manifest, from its body (parsed JSON, or text) and its headers.
 */
export type ErrorReader = (
  body: unknown,
  status: number | undefined,
  plain: ErrorWords,
  headers: Readonly<Record<string, string>>,
) => ErrorWords & { fault?: Fault };

/** Marks the error of work as one beside or after a call that the upstream has taken up. */
export async function onceTakenUp<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UpstreamError) error.is_taken_up = true;
    throw error;
  }
}
