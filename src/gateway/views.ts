import type { Logger } from 'pino';
import type { Configuration } from '../core/configuration.js';
import type { Store } from '../store/store-types.js';
import { Alerts } from '../telemetry/alerts/alerts.js';
import { openMetrics, type Metrics } from '../telemetry/metrics/metrics.js';
import type { RecordSink } from '../telemetry/record-sink.js';
import { Traces } from '../telemetry/traces/traces.js';
import type { GatewayFacts, View } from '../telemetry/view.js';

interface ViewServices {
  store: Store;
  log: Logger;
  now: () => number;
}

/** The views that gateway.yaml turns on. */
export class Views {
  readonly #all: View[] = [];
  /** Undefined where metrics are off. */
  metrics: Metrics | undefined;
  alerts: Alerts | undefined;

  static async open(configuration: Configuration, services: ViewServices): Promise<Views> {
    const views = new Views();
    if (configuration.metrics) {
      views.metrics = await openMetrics(configuration);
      views.#all.push(views.metrics);
    }
    if (configuration.traces) {
      views.#all.push(await Traces.open(configuration, configuration.traces, services.log));
    }
    if (configuration.alerts) {
      views.alerts = new Alerts(configuration.alerts, services);
      views.#all.push(views.alerts);
    }
    return views;
  }

  /** The views that take the records of requests. */
  get sinks(): RecordSink[] {
    return this.#all.filter((view): view is View & RecordSink => view.take !== undefined);
  }

  watch(facts: GatewayFacts): void {
    for (const view of this.#all) view.watch?.(facts);
  }

  reloaded(configuration: Configuration): void {
    for (const view of this.#all) view.reloaded?.(configuration);
  }

  refused(reason: string): void {
    for (const view of this.#all) view.refused?.(reason);
  }

  async close(): Promise<void> {
    for (const view of this.#all) await view.close?.();
  }
}
