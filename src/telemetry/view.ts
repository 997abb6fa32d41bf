import type { Configuration } from '../core/configuration.js';
import type { RequestRecord } from '../core/request-record.js';
import type { OpenHolds } from '../store/verify/open-holds.js';
import type { EndedRequest } from './request-recorder.js';
import type { OutcomeReport } from './provider-health.js';

/** What a view may read of a running gateway, at any time. */
export interface GatewayFacts {
  /** Requests that are being served. */
  readonly in_flight: number;
  readonly in_flight_bytes: number;
  /** Charges that wait in the journal. */
  readonly journal_charges: number;
  /** The last write to the store has succeeded. */
  readonly is_store_up: boolean;
  readonly records_waiting: number;
  readonly records_dropped: number;
  /** An edited gateway.yaml was not taken up. */
  readonly has_configuration_fault: boolean;
  providers(): OutcomeReport;
  /** Rejects where the store takes no writes. */
  ping(): Promise<void>;
  holds(): Promise<OpenHolds>;
}

/** A way to see what a gateway does, from its requests and from what happens to it. */
export interface View {
  /** Called once, before the first request. */
  watch?(facts: GatewayFacts): void;
  /** Called for each request for work that is over; it must neither throw nor wait. */
  take?(record: RequestRecord, ended: EndedRequest): void;
  /** Called after a configuration was taken up. */
  reloaded?(configuration: Configuration): void;
  /** Called where an edited one was not; the reason holds no text of the file. */
  refused?(reason: string): void;
  /** Called at the end; resolves within seconds. */
  close?(): Promise<void>;
}
