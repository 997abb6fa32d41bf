import type { Counter, Registry } from 'prom-client';
import type { Configuration } from '../../core/configuration.js';
import type { RequestRecord } from '../../core/request-record.js';
import type { EndedRequest } from '../record-sink.js';
import type { GatewayFacts, View } from '../view.js';
import { loadPrometheus, type MetricValues, type Prometheus } from './prometheus.js';
import { RequestMetrics } from './request-metrics.js';
import { addStateMetrics } from './state-metrics.js';

/** The Prometheus metrics of one process. */
export class Metrics implements View {
  readonly #registry: Registry;
  readonly #requests: RequestMetrics;
  readonly #reloads: Counter;

  constructor(
    private readonly prometheus: Prometheus,
    configuration: Configuration,
  ) {
    this.#registry = new prometheus.Registry();
    const registers = [this.#registry];
    this.#requests = new RequestMetrics(prometheus, this.#registry, configuration);
    const name = 'tollgate_reloads_total';
    const help = 'Edited gateway.yaml files, taken up (ok) or refused, in each process.';
    this.#reloads = new prometheus.Counter({ name, help, labelNames: ['outcome'], registers });
    // An alert on a rise needs a value of zero before it.
    for (const outcome of ['ok', 'refused']) this.#reloads.inc({ outcome }, 0);
    prometheus.collectDefaultMetrics({ register: this.#registry });
  }

  watch(facts: GatewayFacts): void {
    addStateMetrics(this.prometheus, this.#registry, facts);
  }

  take(record: RequestRecord, { state }: EndedRequest): void {
    this.#requests.take(record, state.notes?.limited_by);
  }

  reloaded(configuration: Configuration): void {
    this.#requests.know(configuration);
    this.#reloads.inc({ outcome: 'ok' }, 1);
  }

  refused(): void {
    this.#reloads.inc({ outcome: 'refused' }, 1);
  }

  /** All metrics in the text format of Prometheus. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** All metrics as data, for a process that adds up those of several. */
  values(): Promise<MetricValues> {
    return this.#registry.getMetricsAsJSON() as Promise<MetricValues>;
  }
}

export async function openMetrics(configuration: Configuration): Promise<Metrics> {
  return new Metrics(await loadPrometheus(), configuration);
}
