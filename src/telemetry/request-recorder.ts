import type { RequestRecord } from '../core/request-record.js';

/** What a view may read of a request beside its record, without its content. */
export interface EndedRequest {
  req: { headers: Readonly<Record<string, string | string[] | undefined>> };
  state: { hold?: { amount_nano: bigint | null } };
}

/**
 * A view of requests: the log, the store, metrics, traces. It is called once for each request for
 * work, after the answer was written, and must neither throw nor wait. It keeps no record that it
 * changes: all sinks get the same object.
 */
export interface RecordSink {
  take(record: RequestRecord, ended: EndedRequest): void;
}

/** Gives the record of each request to all sinks. The list is made once, by the gateway. */
export class RequestRecorder implements RecordSink {
  constructor(private readonly sinks: readonly RecordSink[]) {}

  take(record: RequestRecord, ended: EndedRequest): void {
    for (const sink of this.sinks) sink.take(record, ended);
  }
}
