import type { Logger } from 'pino';
import type { Settler } from '../billing/hold.js';
import type { Configuration } from '../core/configuration.js';
import type { UpstreamError } from '../core/upstream-error.js';
import type { InFlightRequest, InFlightSet } from '../lib/in-flight.js';
import type { RateLimiters } from '../lib/rate-limiter.js';
import type { Memory } from '../http/memory-budget.js';
import type { Store } from '../store/store-types.js';
import type { Task } from '../store/tasks/task-types.js';
import type { AccessLog } from '../telemetry/access-log.js';
import type { ProviderHealth } from '../telemetry/provider-health.js';
import type { RecordSink } from '../telemetry/request-recorder.js';
import type { Network } from '../upstream/network-types.js';
import type { PollClient } from '../upstream/poll-client.js';
import type { EachText } from './text-walk.js';

/** A task as it is known now, and the fault of its upstream where that one could not be asked. */
export interface Polled {
  task: Task;
  fault?: UpstreamError;
}

/** The services of stages, one value for each configuration. Store and network outlive reloads. */
export interface Services {
  configuration: Configuration;
  store: Store;
  settler: Settler;
  network: Network;
  poll_client: PollClient;
  /** Shows each text of a request, whatever its format, and puts in place what it is answered. */
  eachText: EachText;
  log: Logger;
  access_log: AccessLog;
  /** Takes the record of each request for work, and gives it to the log, the store and others. */
  recorder: RecordSink;
  /** Milliseconds since 1970. */
  now: () => number;
  /** From 0 to 1, for sharing load. */
  random: () => number;
  /** How the calls to each provider end. */
  health: ProviderHealth;
  rate_limiters: RateLimiters;
  /** The memory that all bodies and answers use. */
  memory: Memory;
  /** Requests in flight, each with the means to end it. */
  inflight: InFlightSet<InFlightRequest>;
  /** Polls of tasks that are in flight, by task: callers that come together share one. */
  polls: Map<string, Promise<Polled>>;
}
