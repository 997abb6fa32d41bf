/** What went wrong at an upstream, in the classes that lead to different answers. */
export type Fault =
  | 'rejected'
  | 'context'
  | 'policy'
  | 'credentials'
  | 'missing'
  | 'rate_limited'
  | 'quota'
  | 'overloaded'
  | 'timeout'
  | 'unreachable'
  | 'broken';

/**
 * A failed upstream call. `rejected`, `context` and `policy` are the client's to mend (400); all
 * others become 502. The message is fit for the client: the upstream's own words for the first
 * three, ours for the rest, never a credential.
 */
export class UpstreamError extends Error {
  override name = 'UpstreamError';
  /** Whether the message may be the upstream's own, and so hold what a customer wrote. */
  readonly isQuoted: boolean;
  constructor(
    readonly fault: Fault,
    message: string,
    /** Seconds, or an HTTP date, as the upstream gave it. */
    readonly retry_after?: string,
    options?: ErrorOptions & { isQuoted?: boolean },
  ) {
    super(message, options);
    const isClients = fault === 'rejected' || fault === 'context' || fault === 'policy';
    this.isQuoted = isClients || options?.isQuoted === true;
  }
}
