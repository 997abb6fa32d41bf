import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';

/** A trace collector. Its headers may hold its key. */
export interface Collector {
  url: string;
  headers: Readonly<Record<string, string>>;
}

/** The time limit for sending a batch, with its retries. */
const SEND_MS = 5_000;
const BATCHES = 4;

/**
 * Sends spans to a collector by OTLP over HTTP, as JSON. `onSent` gets the error of each batch;
 * undefined if the collector took it. The library is loaded only if traces are on.
 */
export async function createOtlpExporter(
  { url, headers }: Collector,
  onSent: (error: Error | undefined) => void,
): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const exporter = new OTLPTraceExporter({
    url,
    headers: { ...headers },
    timeoutMillis: SEND_MS,
    concurrencyLimit: BATCHES,
  });
  return {
    export: (spans: ReadableSpan[], callback) =>
      exporter.export(spans, (result) => {
        onSent(result.code === 0 ? undefined : (result.error ?? new Error('The batch failed.')));
        callback(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}
