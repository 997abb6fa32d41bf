import type { MetricObjectWithValues, MetricValue } from 'prom-client';

export type Prometheus = typeof import('prom-client');

/** All metrics of one process, as it sends them to its parent. */
export type MetricValues = MetricObjectWithValues<MetricValue<string>>[];

/** Loads the library. Call it only if metrics are on. */
export async function loadPrometheus(): Promise<Prometheus> {
  const { default: prometheus } = await import('prom-client');
  return prometheus;
}
