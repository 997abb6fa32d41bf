import type { Counter, Histogram, Registry } from 'prom-client';
import type { Configuration } from '../../core/configuration.js';
import type { LimitedBy, RequestRecord, UpstreamAttempt } from '../../core/request-record.js';
import { TOKEN_CLASSES } from '../../core/usage.js';
import type { Prometheus } from './prometheus.js';

/** Buckets from the time of a cached embedding to that of a video that its client waits for. */
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320];
const FIRST_TOKEN_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32];
const OVERHEAD_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

/** The columns of a record that count tokens, and the names that metrics give them. */
const TOKENS = ['prompt_tokens', 'completion_tokens', ...TOKEN_CLASSES] as const;

const NANO = 1e9;

/** The names that labels may have. A task may name a model that is no longer configured. */
type Names = Pick<Configuration, 'models' | 'providers'>;

/** Counts requests by endpoint, model, provider and outcome. Labels hold names of gateway.yaml. */
export class RequestMetrics {
  readonly #requests: Counter;
  readonly #seconds: Histogram;
  readonly #first_token: Histogram;
  readonly #overhead: Histogram;
  readonly #tokens: Counter;
  readonly #cost: Counter;
  readonly #uncollected: Counter;
  readonly #attempts: Counter;
  readonly #attempt_seconds: Histogram;
  readonly #limited: Counter;

  constructor(
    prometheus: Prometheus,
    registry: Registry,
    private names: Names,
  ) {
    const registers = [registry];
    const counter = (name: string, help: string, ...labelNames: string[]): Counter =>
      new prometheus.Counter({ name: `tollgate_${name}`, help, labelNames, registers });
    const histogram = (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
      new prometheus.Histogram({ name: `tollgate_${name}`, help, labelNames, buckets, registers });
    const request = ['endpoint', 'model', 'provider', 'status', 'code'];
    this.#requests = counter('requests_total', 'Requests for work, refused ones too.', ...request);
    const whole = 'Until the whole answer was written.';
    this.#seconds = histogram('request_duration_seconds', whole, SECONDS, 'endpoint', 'model');
    const first = 'Until the first output of a stream was written.';
    const first_token = FIRST_TOKEN_SECONDS;
    this.#first_token = histogram('time_to_first_token_seconds', first, first_token, 'model');
    const own = 'Time in which no upstream was asked, of a request.';
    this.#overhead = histogram('gateway_overhead_seconds', own, OVERHEAD_SECONDS, 'endpoint');
    const classes = 'Tokens by class; those below prompt and completion are parts of them.';
    this.#tokens = counter('tokens_total', classes, 'model', 'class');
    this.#cost = counter('cost_dollars_total', 'Collected.', 'model', 'provider');
    const lost = 'Cost that was not collected.';
    this.#uncollected = counter('uncollected_dollars_total', lost, 'model', 'provider');
    const calls = 'Calls to upstreams by their fault, none where one answered.';
    this.#attempts = counter('upstream_attempts_total', calls, 'provider', 'fault');
    const answered = 'Until an upstream had answered or failed.';
    const name = 'upstream_attempt_duration_seconds';
    this.#attempt_seconds = histogram(name, answered, SECONDS, 'provider');
    const refused = 'Requests refused for their rate, by who has the limit.';
    this.#limited = counter('rate_limited_total', refused, 'limiter', 'unit');
    this.#expectUncollected();
  }

  /** Sets the names that labels may have, from a new configuration. */
  know(names: Names): void {
    this.names = names;
    this.#expectUncollected();
  }

  /** Sets the counters to zero. An alert on a rise needs a value before the first rise. */
  #expectUncollected(): void {
    for (const [model, { upstreams }] of this.names.models) {
      for (const { provider, price } of upstreams) {
        if (!price.free) this.#uncollected.inc({ model, provider: provider.name }, 0);
      }
    }
  }

  take(record: RequestRecord, limited_by: LimitedBy | undefined): void {
    const { endpoint, status, code, took_ms, own_ms, first_token_ms } = record;
    const model = bounded(record.model, this.names.models);
    const provider = bounded(record.provider, this.names.providers);
    this.#requests.inc({ endpoint, model, provider, status: String(status), code: code ?? '' }, 1);
    this.#seconds.observe({ endpoint, model }, took_ms / 1_000);
    this.#overhead.observe({ endpoint }, own_ms / 1_000);
    if (first_token_ms !== null) this.#first_token.observe({ model }, first_token_ms / 1_000);
    if (limited_by) this.#limited.inc({ ...limited_by }, 1);
    for (const attempt of record.attempts) this.#attempt(attempt);
    if (record.prompt_tokens !== null) this.#count(record, model);
    const { cost_nano, uncollected_nano } = record;
    if (cost_nano > 0n) this.#cost.inc({ model, provider }, Number(cost_nano) / NANO);
    if (uncollected_nano === 0n) return;
    this.#uncollected.inc({ model, provider }, Number(uncollected_nano) / NANO);
  }

  #attempt({ provider: name, fault, took_ms }: UpstreamAttempt): void {
    const provider = bounded(name, this.names.providers);
    this.#attempts.inc({ provider, fault: fault ?? 'none' }, 1);
    this.#attempt_seconds.observe({ provider }, took_ms / 1_000);
  }

  #count(record: RequestRecord, model: string): void {
    for (const column of TOKENS) {
      const tokens = record[column];
      if (tokens) this.#tokens.inc({ model, class: CLASSES[column] }, tokens);
    }
  }
}

const CLASSES = Object.fromEntries(
  TOKENS.map((column) => [column, column.replace('_tokens', '')]),
) as Record<(typeof TOKENS)[number], string>;

function bounded(name: string | null, known: { has(name: string): boolean }): string {
  if (name === null) return '';
  return known.has(name) ? name : 'other';
}
