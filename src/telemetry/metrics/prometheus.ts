import type { MetricObjectWithValues, MetricValue } from 'prom-client';

export type Prometheus = typeof import('prom-client');

/** All metrics of one process, as they travel to its parent. */
export type MetricValues = MetricObjectWithValues<MetricValue<string>>[];

/** Loaded only where metrics are on. */
export async function loadPrometheus(): Promise<Prometheus> {
  const { default: prometheus } = await import('prom-client');
  return prometheus;
}
