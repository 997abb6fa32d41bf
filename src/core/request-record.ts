import type { Fault } from './upstream-error.js';
import type { TokenClass } from './usage.js';

/** Why an attempt did not end in an answer; the last two are no fault of the upstream. */
export type AttemptFault = Fault | 'client_left' | 'gateway_stopped';

/** Whether the upstream is to blame for it. */
export function isUpstreams(fault: AttemptFault): fault is Fault {
  return fault !== 'client_left' && fault !== 'gateway_stopped';
}

/** One call to one upstream, as it ended. */
export interface UpstreamAttempt {
  provider: string;
  /** The name under which the upstream knows the model. */
  model: string;
  /** Null where it answered. */
  fault: AttemptFault | null;
  /** The HTTP status of a failed answer; null where there was none, or it is not known. */
  status: number | null;
  /**
   * The upstream's short codes, such as `insufficient_quota`, or the system's for its connection,
   * such as ECONNREFUSED; null where there was none.
   */
  codes: string | null;
  /**
   * What went wrong, at most 200 characters; null where it answered. The upstream's own words are
   * there only where the client was told them, without those that the request has too; a sink that
   * writes to a log or another service leaves them out.
   */
  message: string | null;
  /** When it was asked, in ms after the request began; a record of the store may lack it. */
  began_ms?: number;
  /** Until the whole answer was read, a stream to its end. */
  took_ms: number;
}

/** The most characters of a message in a record. */
export const MESSAGE_CHARACTERS = 200;

/** The status of a request whose client left before its answer began. */
export const CLIENT_LEFT_STATUS = 499;

/** The bits of `flags`. */
export const FLAGS = {
  /** The gateway counted the tokens. */
  estimated: 1,
  client_left: 2,
  /** Another upstream than the first one answered. */
  fallback: 4,
  /** The stored response of an idempotency key was sent again. */
  replayed: 8,
  /** The answer broke off after it had begun. */
  cut: 16,
} as const;

export type RequestFlag = keyof typeof FLAGS | 'uncollected';

/**
 * One request for work, without any of its content. The store, the access log, metrics, traces and
 * pages are all made from it. Times are in ms with fractions, money in nano-dollars.
 */
export interface RequestRecord extends Record<TokenClass, number | null> {
  /** A UUID, version 7: it begins with `time_ms`, so records sort by their IDs. */
  id: string;
  /** When the request came, in ms since 1970. */
  time_ms: number;
  account_id: string;
  key_id: string;
  /** The endpoint's name in gateway.yaml. */
  endpoint: string;
  /** Null where the request was refused before its model was found. */
  model: string | null;
  /** The provider that answered, or the last one asked; null where none was. */
  provider: string | null;
  upstream_model: string | null;
  attempts: readonly UpstreamAttempt[];
  /** Also where a stream tells the error under the status 200. */
  status: number;
  /** The code of the error; null for an answer. */
  code: string | null;
  /** The answer was a stream. */
  streamed: boolean;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  /** What else was counted, such as `{"images":1}`. */
  units: Readonly<Record<string, number>> | null;
  /** Until its key was accepted. This and the next are null where it did not get so far. */
  auth_ms: number | null;
  /** Until its body was read and its model found; then the hold was asked for. */
  read_ms: number | null;
  /** Until the hold was taken or refused. */
  hold_ms: number | null;
  /** Null for an answer that was no stream, and for one that said nothing. */
  first_token_ms: number | null;
  /** Until the answer was written; in the store, until its charge was. */
  took_ms: number;
  /** The gateway's share of it: the time in which no upstream was asked. */
  own_ms: number;
  /** What was collected. */
  cost_nano: bigint;
  /** What it cost beyond that. */
  uncollected_nano: bigint;
  /** Bits of `FLAGS`; see `flagsOf`. */
  flags: number;
  /** The record is in the store already, with its charge. */
  is_kept: boolean;
}

/** The flags of a record by their names. */
export function flagsOf({
  flags,
  uncollected_nano,
}: Pick<RequestRecord, 'flags' | 'uncollected_nano'>): RequestFlag[] {
  const names = (Object.keys(FLAGS) as (keyof typeof FLAGS)[]).filter(
    (name) => (flags & FLAGS[name]) !== 0,
  );
  return uncollected_nano > 0n ? [...names, 'uncollected'] : names;
}

/** Whether the gateway or an upstream refused or failed; a client that left is no failure. */
export function hasFailed({ code, status }: Pick<RequestRecord, 'code' | 'status'>): boolean {
  return code !== null && status !== CLIENT_LEFT_STATUS;
}

const TIME_DIGITS = 12;

/** The time that a request ID begins with, in ms since 1970. */
export function timeOf(request_id: string): number {
  return Number.parseInt(request_id.slice(0, 8) + request_id.slice(9, 13), 16);
}

/** The text at which the IDs of that time begin: those before sort before it. */
export function firstIdAt(time_ms: number): string {
  const clamped = Math.min(Math.max(Math.floor(time_ms), 0), 2 ** 48 - 1);
  const digits = clamped.toString(16).padStart(TIME_DIGITS, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
