import type { LimitedBy, RequestRecord } from '../core/request-record.js';

/** The parts of a request that a view may read beside its record. None is content. */
export interface EndedRequest {
  req: { headers: Readonly<Record<string, string | string[] | undefined>> };
  state: {
    hold?: { amount_nano: bigint | null };
    notes?: { limited_by: LimitedBy | undefined };
  };
}

/**
 * Takes the records of requests: the log, the store, metrics, traces. It is called once for each
 * request for work, after the answer was written. It must neither throw nor wait, and must not
 * change the record: all sinks get the same object.
 */
export interface RecordSink {
  take(record: RequestRecord, ended: EndedRequest): void;
}
