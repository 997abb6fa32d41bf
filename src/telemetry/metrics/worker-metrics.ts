import type { Registry } from 'prom-client';
import { loadPrometheus, type MetricValues, type Prometheus } from './prometheus.js';

/** A worker process whose metrics are added up with those of others. */
export interface MeasuredWorker {
  id: number;
  /** Rejects if the process has ended or does not answer in time. */
  values: () => Promise<MetricValues>;
}

/**
 * Adds up the metrics of all workers. A worker that does not answer counts with its values of the
 * last scrape. The counters of a worker that has ended are kept: Prometheus takes a total that
 * falls for a restart, and would count the other workers again.
 */
export class WorkerMetrics {
  readonly #last = new Map<number, MetricValues>();
  #ended: MetricValues = [];

  private constructor(private readonly prometheus: Prometheus) {}

  static async open(): Promise<WorkerMetrics> {
    return new WorkerMetrics(await loadPrometheus());
  }

  /** All metrics in the text format of Prometheus. Only one call may run at a time. */
  async text(workers: readonly MeasuredWorker[]): Promise<string> {
    await this.#keepEnded(new Set(workers.map(({ id }) => id)));
    const askWorker = async ({ id, values }: MeasuredWorker): Promise<void> => {
      const answered = await values().catch(() => undefined);
      if (answered) this.#last.set(id, answered);
    };
    await Promise.all(workers.map(askWorker));
    return this.#sum([...this.#last.values(), this.#ended]).metrics();
  }

  /** Keeps the counters of workers that have ended, and drops their gauges. */
  async #keepEnded(living: ReadonlySet<number>): Promise<void> {
    for (const [id, values] of this.#last) {
      if (living.has(id)) continue;
      const counts = values.filter(({ type }) => isCount(type));
      this.#ended = await this.#sum([this.#ended, counts]).getMetricsAsJSON();
      this.#last.delete(id);
    }
  }

  #sum(all: MetricValues[]): Registry {
    return this.prometheus.AggregatorRegistry.aggregate(all);
  }
}

/** The library declares numbers for the types of metrics, but sends words. */
function isCount(type: unknown): boolean {
  return type === 'counter' || type === 'histogram';
}
