import type { Registry } from 'prom-client';
import { loadPrometheus, type MetricValues, type Prometheus } from './prometheus.js';

/** A process whose metrics are added up with those of others. */
export interface MeasuredWorker {
  id: number;
  /** Rejects where the process has ended, or does not answer in time. */
  values: () => Promise<MetricValues>;
}

/**
 * Adds up the metrics of all workers. A worker that does not answer counts as at the scrape before,
 * and one that has ended leaves its counts behind: Prometheus takes a total that falls for a
 * restart, and would count the others anew.
 */
export class WorkerMetrics {
  readonly #last = new Map<number, MetricValues>();
  #ended: MetricValues = [];

  private constructor(private readonly prometheus: Prometheus) {}

  static async open(): Promise<WorkerMetrics> {
    return new WorkerMetrics(await loadPrometheus());
  }

  /** The answer to a scrape of the workers that live. One call at a time. */
  async text(workers: readonly MeasuredWorker[]): Promise<string> {
    await this.#keepEnded(new Set(workers.map(({ id }) => id)));
    const ask = async ({ id, values }: MeasuredWorker): Promise<void> => {
      const answered = await values().catch(() => undefined);
      if (answered) this.#last.set(id, answered);
    };
    await Promise.all(workers.map(ask));
    return this.#sum([...this.#last.values(), this.#ended]).metrics();
  }

  /** Of a worker that has ended, the counts stay and the states go. */
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

/** The library's types number the types of metrics, whose values are words. */
function isCount(type: unknown): boolean {
  return type === 'counter' || type === 'histogram';
}
