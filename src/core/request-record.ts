import type { Fault } from './upstream-error.js';
import type { TokenClass } from './usage.js';

/** Why an attempt failed. `client_left` and `gateway_stopped` are no fault of the upstream. */
export type AttemptFault = Fault | 'client_left' | 'gateway_stopped';

/** Whether a fault is the upstream's. */
export function isUpstreams(fault: AttemptFault): fault is Fault {
  return fault !== 'client_left' && fault !== 'gateway_stopped';
}

/** One call to one upstream, as it ended. */
export interface UpstreamAttempt {
  provider: string;
  /** The name under which the upstream knows the model. */
  model: string;
  /** Null if it answered. */
  fault: AttemptFault | null;
  /** The HTTP status of a failed answer; null if there was none, or it is not known. */
  status: number | null;
  /**
   * The upstream's short codes, such as `insufficient_quota`, or the system's code for the
   * connection, such as ECONNREFUSED; null if there was none.
   */
  codes: string | null;
  /**
   * The failure, in at most 200 characters; null if it answered. It holds the upstream's own
   * message only if the client got that too, and without the words of the request. A sink that
   * writes to a log or another service leaves it out.
   */
  message: string | null;
  /**
   * When the attempt began, in ms after the request began; absent in older records of the store.
   */
  began_ms?: number;
  /** The time until the whole answer was read, a stream to its end. */
  took_ms: number;
}

/** Which limit of a rate has refused a request. */
export interface LimitedBy {
  limiter: 'key' | 'account' | 'model' | 'all';
  unit: 'requests' | 'tokens' | 'concurrent';
}

/** The maximum length of a message in a record. */
export const MESSAGE_CHARACTERS = 200;

/** The status of a request whose client left before its answer began. */
export const CLIENT_DISCONNECTED_STATUS = 499;

/** The bits of `flags`. */
export const FLAGS = {
  /** The gateway counted the tokens. */
  estimated: 1,
  client_left: 2,
  /** An upstream other than the first one answered. */
  fallback: 4,
  /** The stored response of an idempotency key was sent again. */
  replayed: 8,
  /** The answer broke off after it had begun. */
  cut: 16,
  /** An upstream answered that is not the one to which calls of its conversation go. */
  moved: 32,
} as const;

export type RequestFlag = keyof typeof FLAGS | 'uncollected';

/**
 * The record of a request for work. It has no content of the request. The store, the access log,
 * metrics, traces and pages all use it. Times are in ms with fractions, money in nano-dollars.
 */
export interface RequestRecord extends Record<TokenClass, number | null> {
  /** A UUID, version 7: it begins with `time_ms`, so records sort by their IDs. */
  id: string;
  /** When the request arrived, in ms since 1970. */
  time_ms: number;
  account_id: string;
  key_id: string;
  /** The client program, as `AgentNames` reads it from the user agent; null if it sent none. */
  agent: string | null;
  /** The endpoint's name in gateway.yaml. */
  endpoint: string;
  /** Null if the request was refused before its model was found. */
  model: string | null;
  /** The provider that answered, or the last one tried; null if none was. */
  provider: string | null;
  upstream_model: string | null;
  attempts: readonly UpstreamAttempt[];
  /** The status of the answer. For an error within a stream, it is the error's, not 200. */
  status: number;
  /** The code of the error; null for an answer. */
  code: string | null;
  /** The answer was a stream. */
  streamed: boolean;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  /** Other billed units, such as `{"images":1}`. */
  units: Readonly<Record<string, number>> | null;
  /**
   * The time until the key was accepted. This and the next two are null if it did not get that far.
   */
  auth_ms: number | null;
  /** The time until the body was read and the model found. The hold comes next. */
  read_ms: number | null;
  /** The time until the hold was taken or refused. */
  hold_ms: number | null;
  /** The time until the first output of a stream; null for other answers and empty streams. */
  first_token_ms: number | null;
  /** The time until the answer was written; in the store, until its charge was written. */
  took_ms: number;
  /** The gateway's share of `took_ms`: the time in which no upstream call ran. */
  own_ms: number;
  /** The collected cost. */
  cost_nano: bigint;
  /** The cost beyond that, which could not be collected. */
  uncollected_nano: bigint;
  /** What the upstream takes; null if that is not known, as of a call that was not charged. */
  upstream_cost_nano: bigint | null;
  /** See `Bill`; of a charge alone. */
  saved_nano: bigint;
  /** Of a charged call with the flag `moved`: see `Bill.missed_nano`. */
  lost_nano: bigint;
  /** Bits of `FLAGS`; see `flagsOf`. */
  flags: number;
  /** Whether the record is written with its charge: it is in the store, or waits with it. */
  is_kept: boolean;
}

/** The names of a record's flags. */
export function flagsOf({
  flags,
  uncollected_nano,
}: Pick<RequestRecord, 'flags' | 'uncollected_nano'>): RequestFlag[] {
  const names = (Object.keys(FLAGS) as (keyof typeof FLAGS)[]).filter(
    (name) => (flags & FLAGS[name]) !== 0,
  );
  return uncollected_nano > 0n ? [...names, 'uncollected'] : names;
}

/** Whether a request was refused or failed. A client that left is no failure. */
export function hasFailed({ code, status }: Pick<RequestRecord, 'code' | 'status'>): boolean {
  return code !== null && status !== CLIENT_DISCONNECTED_STATUS;
}

const TIME_DIGITS = 12;

/** The time that a request ID begins with, in ms since 1970. */
export function timeOf(request_id: string): number {
  return Number.parseInt(request_id.slice(0, 8) + request_id.slice(9, 13), 16);
}

/** The lowest text that sorts after all IDs of earlier times. */
export function firstIdAt(time_ms: number): string {
  const clamped = Math.min(Math.max(Math.floor(time_ms), 0), 2 ** 48 - 1);
  const digits = clamped.toString(16).padStart(TIME_DIGITS, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
