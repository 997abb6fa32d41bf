import type { Bill } from '../billing/bill.js';
import type { Hold } from '../billing/hold.js';
import type { Caller, Upstream } from '../core/model.js';
import type { ClientConnection } from '../http/client-connection.js';
import type { Task } from '../store/tasks/task-types.js';
import type { RequestNotes } from './request-notes.js';
import type { Services } from './services.js';

/**
 * Commits a charge, and answers the bill as it was paid. The last byte of an answer goes out only
 * after this has resolved.
 */
export type Settle = (bill: Bill) => Promise<Bill>;

/** An answer that was paid for. Without a bill or without a body it does not compile. */
export interface PaidAnswer {
  /** The provider entry of the upstream that made it. */
  provider: string;
  /** Names of what this upstream could not be told, beside the work's own. */
  ignored?: readonly string[] | undefined;
  /** True for a stream that has only begun: `deliver` reports how it ends. */
  streams: boolean;
  /** Charges the answer through `settle`; a stream is carried to its client here. */
  deliver(settle: Settle): Promise<Bill>;
  /** The JSON for the client; undefined where `deliver` has written the answer. */
  body(bill: Bill): object | undefined;
}

/** An answer that costs nothing; its text is JSON already. */
export interface FreeAnswer {
  /** 200 where it is left out. */
  status?: number;
  /** Undefined where the answer has been written. */
  body(): object | string | undefined;
}

export type Answer = PaidAnswer | FreeAnswer;

/** The services that a call to an upstream uses. */
export interface Sending {
  request_id: string;
  /** The name of the endpoint. */
  endpoint: string | undefined;
  caller: Caller;
  hold: Hold;
  client: ClientConnection;
  notes: RequestNotes;
  services: Services;
}

/** A field of the request, and the largest value of it that an amount pays for. */
export interface Fit {
  field: string;
  value: number;
}

/** A request fitted to its model. Its types stay inside its modality. */
export interface Work {
  /** The upstreams that can do it; `route` puts them in the order in which they are asked. */
  upstreams: readonly Upstream[];
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  readonly ignored: readonly string[];
  /** Whether the answer can be kept for a client that repeats its `Idempotency-Key`. */
  readonly repeatable: boolean;
  /** Names of the fields whose value was lowered, for the header `tollgate-adjusted`. */
  readonly adjusted?: readonly string[];
  /** How its request would have to change to cost so little; undefined where it cannot. */
  fitting?(available_nano: bigint): Fit | undefined;
  /** Lowers the field of a fit, and so the cost; false where the answer could become too short. */
  lowerTo?(fit: Fit): boolean;
  /** The client asked for a stream. */
  readonly streams?: boolean;
  /** The most that it can cost, in nano-dollars, at the dearest of its upstreams. */
  maxCost(): bigint;
  /** Asks one upstream, once. Throws `UpstreamError` where that one does not answer. */
  send(upstream: Upstream, sending: Sending): Promise<Answer>;
  /** Undoes what `send` has begun, where no upstream has answered in the end. */
  abandon?(error: unknown, sending: Sending): Promise<void>;
}

/** The task that a path names, and which of its contents. */
export interface RoutedTask {
  task: Task;
  index: number;
}
