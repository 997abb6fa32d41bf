import type { Logger } from 'pino';
import type { ChargeWriter } from '../billing/charge-writer.js';
import type { Configuration } from '../core/configuration.js';
import type { UpstreamError } from '../core/upstream-error.js';
import type { InFlightRequest, InFlightSet } from '../lib/in-flight-set.js';
import type { MediaReader } from '../lib/media-reader.js';
import type { RateLimiters } from '../lib/rate-limiter.js';
import type { AdmissionQueue } from '../http/admission-queue.js';
import type { MemoryBudget } from '../http/memory-budget.js';
import type { Store } from '../store/store-types.js';
import type { Task } from '../store/tasks/task-types.js';
import type { AccessLog } from '../telemetry/access-log.js';
import type { ProviderHealth } from '../telemetry/provider-health.js';
import type { RecordQueue } from '../telemetry/record-queue.js';
import type { RecordSink } from '../telemetry/record-sink.js';
import type { Network } from '../upstream/network-types.js';
import type { PollClient } from '../upstream/poll-client.js';
import type { EachText } from './text-walk.js';
import type { UpstreamRests } from './upstream-rests.js';

/** The latest known state of a task, with the error of its upstream if the poll failed. */
export interface Polled {
  task: Task;
  fault?: UpstreamError;
}

/** The services of stages, one value for each configuration. Store and network outlive reloads. */
export interface Services {
  configuration: Configuration;
  store: Store;
  charge_writer: ChargeWriter;
  network: Network;
  poll_client: PollClient;
  /** Calls a visitor with each text of a request in any format, and replaces it by the result. */
  eachText: EachText;
  log: Logger;
  access_log: AccessLog;
  /** Takes the records that were not written to the store with a charge. */
  records: RecordQueue;
  /** Take the record of each request for work: the log and the views. */
  sinks: readonly RecordSink[];
  /** Milliseconds since 1970. */
  now: () => number;
  /** A number from 0 to 1, for load balancing. */
  random: () => number;
  /** Counts the successes and failures of each provider. */
  health: ProviderHealth;
  /** Remembers the upstreams that fail. */
  rests: UpstreamRests;
  /** Waits before a call is sent again. */
  pause: (ms: number) => Promise<void>;
  rate_limiters: RateLimiters;
  /** Counts the memory of all bodies and answers. */
  memory: MemoryBudget;
  /** Reads media of clients, such as the pages of a PDF. */
  media: MediaReader;
  /** Bounds the requests in flight, and lets accounts begin theirs in turn. */
  admissions: AdmissionQueue;
  /** The requests in flight, each of which can be stopped. */
  inflight: InFlightSet<InFlightRequest>;
  /** The polls in flight, by task: concurrent requests share one poll. */
  polls: Map<string, Promise<Polled>>;
}
