import type * as Api from '@opentelemetry/api';
import type { Context, Tracer } from '@opentelemetry/api';
import type { TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { Configuration } from '../../core/configuration.js';
import {
  isUpstreams,
  type RequestRecord,
  type UpstreamAttempt,
} from '../../core/request-record.js';
import { withTimeout } from '../../lib/with-timeout.js';
import { createOtlpExporter } from '../../upstream/otlp-exporter.js';
import type { EndedRequest } from '../record-sink.js';
import type { View } from '../view.js';
import { attemptAttributes, operationsOf, requestAttributes } from './attributes.js';

/** The maximum of spans that wait for the collector. Further ones are dropped. */
const QUEUE = 4_096;
const BATCH = 512;
const SEND_EVERY_MS = 2_000;
/** How long the end of the process waits for the collector. */
const CLOSE_MS = 3_000;

const SERVER_FAULT = 500;

/** The W3C header `traceparent` in version 00. Other versions are ignored. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/u;

/** Sends spans to a collector: one for each request, with a child for each call to an upstream. */
export class Traces implements View {
  #operations: Map<string, string>;
  readonly #tracer: Tracer;

  private constructor(
    private readonly api: typeof Api,
    private readonly provider: TracerProvider,
    private configuration: Configuration,
    private readonly sample: number,
  ) {
    this.#operations = operationsOf(configuration);
    this.#tracer = provider.getTracer('tollgate');
  }

  /** Loads the libraries. Call it only if traces are on. */
  static async open(
    configuration: Configuration,
    traces: NonNullable<Configuration['traces']>,
    log: Logger,
  ): Promise<Traces> {
    const [api, sdk, { resourceFromAttributes }] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/resources'),
    ]);
    const exporter = await createOtlpExporter(traces, tellOnce(log));
    const limits = { maxQueueSize: QUEUE, maxExportBatchSize: BATCH };
    const batches = { scheduledDelayMillis: SEND_EVERY_MS, exportTimeoutMillis: 10_000 };
    const provider = new sdk.TracerProvider({
      // `isSampled` decides before a span is made.
      sampler: new sdk.AlwaysOnSampler(),
      resource: resourceFromAttributes({ 'service.name': 'tollgate' }),
      spanProcessors: [new sdk.BatchSpanProcessor({ exporter, ...limits, ...batches })],
    });
    return new Traces(api, provider, configuration, traces.sample);
  }

  reloaded(configuration: Configuration): void {
    this.configuration = configuration;
    this.#operations = operationsOf(configuration);
  }

  take(record: RequestRecord, ended: EndedRequest): void {
    if (!isSampled(record.id, this.sample)) return;
    const { api } = this;
    const operation = this.#operations.get(record.endpoint) ?? record.endpoint;
    const span = this.#tracer.startSpan(
      record.model === null ? operation : `${operation} ${record.model}`,
      { kind: api.SpanKind.SERVER, startTime: record.time_ms },
      this.#parent(ended),
    );
    const name = this.#providerOf(record.provider);
    span.setAttributes(requestAttributes(record, operation, name, ended));
    if (record.status >= SERVER_FAULT) span.setStatus({ code: api.SpanStatusCode.ERROR });
    const context = api.trace.setSpan(api.ROOT_CONTEXT, span);
    for (const attempt of record.attempts) this.#attempt(attempt, record, operation, context);
    span.end(record.time_ms + record.took_ms);
  }

  /** Sends the waiting spans, for a few seconds at most. */
  async close(): Promise<void> {
    await withTimeout(
      this.provider.shutdown().catch(() => undefined),
      CLOSE_MS,
    );
  }

  #attempt(
    attempt: UpstreamAttempt,
    record: RequestRecord,
    operation: string,
    context: Context,
  ): void {
    const { api } = this;
    const startTime = record.time_ms + (attempt.began_ms ?? 0);
    const kind = api.SpanKind.CLIENT;
    const provider = this.#providerOf(attempt.provider);
    const attributes = attemptAttributes(attempt, record, operation, provider);
    const options = { kind, startTime, attributes };
    const span = this.#tracer.startSpan(`${operation} ${attempt.model}`, options, context);
    if (attempt.fault !== null && isUpstreams(attempt.fault))
      span.setStatus({ code: api.SpanStatusCode.ERROR });
    span.end(startTime + attempt.took_ms);
  }

  /** The manifest of a provider: it says more than the name that the operator gave it. */
  #providerOf(name: string | null): string | undefined {
    if (name === null) return undefined;
    return this.configuration.providers.get(name)?.manifest ?? name;
  }

  #parent({ req }: EndedRequest): Context {
    const { api } = this;
    const traceparent = req.headers.traceparent;
    if (typeof traceparent !== 'string') return api.ROOT_CONTEXT;
    const [, traceId = '', spanId = ''] = TRACEPARENT.exec(traceparent) ?? [];
    const parent = { traceId, spanId, traceFlags: api.TraceFlags.SAMPLED, isRemote: true };
    if (!api.isSpanContextValid(parent)) return api.ROOT_CONTEXT;
    return api.trace.setSpanContext(api.ROOT_CONTEXT, parent);
  }
}

const RANDOM_DIGITS = 12;

/**
 * Whether a request is sampled, decided by the random end of its ID. The ID of the trace would not
 * do: the client chooses it, and could have all its requests sent, or none.
 */
export function isSampled(request_id: string, sample: number): boolean {
  const random = Number.parseInt(request_id.slice(-RANDOM_DIGITS), 16);
  return random < sample * 16 ** RANDOM_DIGITS;
}

/** Logs that the collector is away, and that it is back, once each. */
function tellOnce(log: Logger): (error: Error | undefined) => void {
  let isAway = false;
  return (error) => {
    if (error && !isAway) {
      log.warn({ reason: error.message.slice(0, 200) }, 'the collector takes no traces');
    }
    if (!error && isAway) log.info('the collector takes traces again');
    isAway = error !== undefined;
  };
}
