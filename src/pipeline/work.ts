import type { Bill, Receipt } from '../billing/bill.js';
import type { Hold } from '../billing/hold.js';
import type { IdempotencyClaim } from '../billing/idempotency-claim.js';
import type { Caller, Model, Upstream } from '../core/model.js';
import type { ClientConnection } from '../http/client-connection.js';
import type { MediaFile, MediaSizes } from '../lib/media-reader.js';
import type { Task } from '../store/tasks/task-types.js';
import type { RequestNotes } from './request-record.js';
import type { Services } from './services.js';

/** An answer that costs money. An answer without a bill or a body does not compile. */
export interface PaidAnswer {
  /** The name of the provider that answered. */
  provider: string;
  /** Names of request fields that this upstream does not accept, beside `Work.ignored`. */
  ignored?: readonly string[] | undefined;
  /** True for a stream, which has only begun: `finish` reports how it ends. */
  streams: boolean;
  /**
   * Sends all but the last byte of a stream, or writes the body, so that a fault of ours comes
   * before the charge. Resolves with the bill.
   */
  finish(): Promise<Bill>;
  /** Sends what is left, once the charge is committed. Throws the error that cut a stream off. */
  close(receipt: Receipt): Promise<void> | void;
  /** The JSON for the client; undefined if `finish` and `close` send the answer. */
  body(): object | undefined;
}

/** The parts of an answer that has come whole. */
interface WholeAnswer extends Pick<PaidAnswer, 'provider' | 'ignored'> {
  bill: () => Promise<Bill>;
  /** Writes the JSON for the client; undefined for a client that has disconnected. */
  write: (bill: Bill) => object | undefined;
}

/** An answer that has come whole, and whose body shows its bill. */
export function wholeAnswer({ provider, ignored, bill, write }: WholeAnswer): PaidAnswer {
  let body: object | undefined;
  return {
    provider,
    ignored,
    streams: false,
    finish: async () => {
      const due = await bill();
      body = write(due);
      return due;
    },
    close: () => undefined,
    body: () => body,
  };
}

/** An answer that costs nothing. */
export interface FreeAnswer {
  /** The HTTP status; 200 by default. */
  status?: number;
  /** The JSON for the client, as a value or as text; undefined if the answer has been written. */
  body(): object | string | undefined;
}

export type Answer = PaidAnswer | FreeAnswer;

/** The services that a call to an upstream uses. */
export interface SendContext {
  request_id: string;
  /** The name of the endpoint. */
  endpoint: string | undefined;
  caller: Caller;
  hold: Hold;
  claim?: IdempotencyClaim | undefined;
  client: ClientConnection;
  notes: RequestNotes;
  services: Services;
}

/** A field of the request, and the largest value of it that the available money pays for. */
export interface Fit {
  field: string;
  value: number;
}

/** Reads media of a request within its limits of time and memory. */
export type ReadMedia = (files: readonly MediaFile[]) => Promise<MediaSizes>;

/** A request fitted to its model. Its types stay inside its modality. */
export interface Work {
  /** The model that serves the call, if it is not the one that the client asked for. */
  readonly served_by?: Model;
  /** The upstreams that can do it; `route` puts them in the order in which they are tried. */
  upstreams: readonly Upstream[];
  /**
   * The text with which its conversation begins, the same in each of its turns: all of them go to
   * one upstream while it is well. Absent if its upstreams keep nothing from one call to the next.
   */
  beginning?(): string;
  /** The upstream of its conversation, as `route` finds it. */
  home?: Upstream | undefined;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  readonly ignored: readonly string[];
  /** Whether the answer can be stored for a client that repeats its `Idempotency-Key`. */
  readonly repeatable: boolean;
  /** An upstream may bill a call that it answers with an error: no such call is sent again. */
  readonly bills_errors?: boolean;
  /** Names of the fields whose value was lowered, for the header `tollgate-adjusted`. */
  readonly adjusted?: readonly string[];
  /**
   * The field to lower, and its value, for the max cost to fit into `available_nano`; undefined if
   * no value does.
   */
  fitting?(available_nano: bigint): Fit | undefined;
  /** Lowers that field and so the max cost. Returns false if the answer could become too short. */
  lowerTo?(fit: Fit): boolean;
  /** The client asked for a stream. */
  readonly streams?: boolean;
  /**
   * Begins the stream before an upstream has answered, so that no proxy takes the silence for a
   * failure.
   */
  openStream?(context: SendContext): void;
  /**
   * Reads how many pages and seconds the media of the request have, if it has any, before its max
   * cost is computed. Rejects with a `GatewayError` if no upstream takes the media.
   */
  readonly measure?: ((read: ReadMedia) => Promise<void>) | undefined;
  /** The max cost in nano-dollars, at the most expensive of its upstreams. */
  maxCost(): bigint;
  /** The max tokens that it can use at any of its upstreams; absent if nothing bounds them. */
  maxTokens?(): number;
  /** Calls one upstream, once. Throws `UpstreamError` if the upstream fails. */
  send(upstream: Upstream, context: SendContext): Promise<Answer>;
  /**
   * Names of the fields that one upstream does not accept, beside `ignored`, without a call. Throws
   * `UpstreamError` if it cannot take the request.
   */
  leftOutBy?(upstream: Upstream): readonly string[];
  /**
   * The least bill of a call that was drained in vain: its client has disconnected, and its
   * upstream has not answered in time, but bills on.
   */
  unansweredBill?(upstream: Upstream, context: SendContext): Promise<Bill>;
  /** Undoes what `send` began. Called if no upstream answered. */
  abandon?(error: unknown, context: SendContext): Promise<void>;
}

/** The task that a path names, and the index of one of its contents. */
export interface RoutedTask {
  task: Task;
  index: number;
}
