import type { Configuration } from '../core/configuration.js';
import type { RequestRecord } from '../core/request-record.js';
import type { UpstreamName } from '../store/rests/rests.js';
import type { OpenHolds } from '../store/verify/open-holds.js';
import type { DifferingPart } from './boxes.js';
import type { EndedRequest } from './record-sink.js';
import type { OutcomeReport } from '../schema-types/outcome-report.js';

/** The state of a running gateway that a view may read at any time. */
export interface GatewayFacts {
  /** Requests that are being served. */
  readonly in_flight: number;
  readonly in_flight_bytes: number;
  /** WebSockets of clients. */
  readonly sockets_open: number;
  /** Charges that wait in the journal. */
  readonly journal_charges: number;
  /** Whether the last write to the store succeeded. */
  readonly is_store_up: boolean;
  readonly records_waiting: number;
  readonly records_dropped: number;
  /** Whether an edited gateway.yaml was refused, so that the older one serves. */
  readonly has_configuration_fault: boolean;
  /** How many boxes share the store, and in which parts they differ. */
  readonly boxes: number;
  readonly boxes_differ_in: readonly DifferingPart[];
  /** How far the clock of this machine is ahead of the database's. */
  readonly clock_offset_ms: number;
  providers(): OutcomeReport;
  /** The upstreams that fail and are left alone. */
  resting(): readonly UpstreamName[];
  /** Rejects if the store takes no writes. */
  ping(): Promise<void>;
  holds(): Promise<OpenHolds>;
}

/** Metrics, traces or alerts: made from the records of requests and the events of the gateway. */
export interface View {
  /** Called once, before the first request. */
  watch?(facts: GatewayFacts): void;
  /** Called for each request for work that has ended. It must neither throw nor wait. */
  take?(record: RequestRecord, ended: EndedRequest): void;
  /** Called after a reload. */
  reloaded?(configuration: Configuration): void;
  /** Called after an edited gateway.yaml was refused. The reason holds no text of the file. */
  refused?(reason: string): void;
  /** Called when the gateway stops. Resolves within seconds. */
  close?(): Promise<void>;
}
