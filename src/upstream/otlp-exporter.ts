import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';

/** The collector of an operator, and the headers that it asks for, which may hold its key. */
export interface Collector {
  url: string;
  headers: Readonly<Record<string, string>>;
}

/** One batch must be with the collector by then, its retries included. */
const SEND_MS = 5_000;
const BATCHES = 4;

/**
 * Sends spans to a collector by OTLP over HTTP, as JSON. `sent` hears how each batch has ended:
 * undefined where the collector took it. Loaded only where traces are on.
 */
export async function createOtlpExporter(
  { url, headers }: Collector,
  sent: (error: Error | undefined) => void,
): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const exporter = new OTLPTraceExporter({
    url,
    headers: { ...headers },
    timeoutMillis: SEND_MS,
    concurrencyLimit: BATCHES,
  });
  return {
    export: (spans: ReadableSpan[], done) =>
      exporter.export(spans, (result) => {
        sent(result.code === 0 ? undefined : (result.error ?? new Error('The batch failed.')));
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}
