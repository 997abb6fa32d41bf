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
  | 'broken';

/** What the gateway says of each, where the upstream's own words are not told or not kept. */
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
  broken: 'The upstream failed.',
};

/**
 * A failed upstream call. `rejected`, `context` and `policy` are the client's to mend (400), and so
 * is `unsupported`: a codec throws it for a request that its wire cannot say, which another
 * upstream's may. All others become 502. The message is fit for the client: the upstream's own
 * words for the first three, ours for the rest, never a credential.
 */
export class UpstreamError extends Error {
  override name = 'UpstreamError';
  /** Whether the message may be the upstream's own, and so hold what a customer wrote. */
  readonly isQuoted: boolean;
  /** The message as a record may keep it: with nothing that a customer wrote. */
  readonly kept_message: string;
  /** The field at fault, where it is known. */
  readonly param: string | undefined;
  /** The HTTP status of the upstream's answer, where there was one. */
  readonly status: number | undefined;
  /**
   * The upstream's short codes, or the system's for its connection, such as ECONNREFUSED. They hold
   * nothing of what a customer wrote.
   */
  readonly codes: readonly string[];
  constructor(
    readonly fault: Fault,
    message: string,
    /** Seconds, or an HTTP date, as the upstream gave it. */
    readonly retry_after?: string,
    options?: UpstreamErrorOptions,
  ) {
    super(message, options);
    const isClients = fault === 'rejected' || fault === 'context' || fault === 'policy';
    this.isQuoted = isClients || options?.isQuoted === true;
    this.kept_message = options?.kept_message ?? (this.isQuoted ? FAULT_MESSAGES[fault] : message);
    this.param = options?.param;
    this.status = options?.status;
    this.codes = options?.codes ?? [];
  }
}

export interface UpstreamErrorOptions extends ErrorOptions {
  isQuoted?: boolean;
  kept_message?: string | undefined;
  param?: string;
  status?: number;
  codes?: readonly string[];
}

/** What an upstream's error says, whichever of the many shapes it came in. Absent parts are ''. */
export interface ErrorWords {
  message: string;
  /** Codes, types and reasons, in lower case, to recognise the error by. */
  marks: string;
  /** Those of them that are a short word each, which holds nothing of what a customer wrote. */
  codes: readonly string[];
  /** The status that the body itself names, for errors inside a 200. */
  status: number | undefined;
  /** Seconds, such as Google's `retryDelay` of "34.4s". */
  retry_seconds: number | undefined;
}

/** Reads an error's words anew from its body, the parsed JSON or its text, and from its headers. */
export type ErrorReader = (
  body: unknown,
  status: number | undefined,
  plain: ErrorWords,
  headers: Readonly<Record<string, string>>,
) => ErrorWords & { fault?: Fault };
