import type { Aggregator, Gauge, Registry } from 'prom-client';
import { withTimeout } from '../../lib/with-timeout.js';
import { DIFFERING_PARTS } from '../boxes.js';
import type { ProviderOutcomes } from '../../schema-types/outcome-report.js';
import type { GatewayFacts } from '../view.js';
import type { Prometheus } from './prometheus.js';

const OUTCOMES = ['answered', 'refused', 'failed'] as const;
const NANO = 1e9;
/** The longest time that a scrape waits for the store. */
const STORE_MS = 1_500;

type Collect = (gauge: Gauge) => void | Promise<void>;

/** Adds the metrics that are read from the gateway at each scrape. */
export function addStateMetrics(
  prometheus: Prometheus,
  registry: Registry,
  facts: GatewayFacts,
): void {
  const gauge = (
    name: string,
    help: string,
    collect: Collect,
    {
      aggregator = 'sum',
      labelNames = [],
    }: { aggregator?: Aggregator; labelNames?: string[] } = {},
  ): void => {
    // `collect` is called with the gauge as `this`.
    const reads = function (this: Gauge): void | Promise<void> {
      return collect(this);
    };
    const registers = [registry];
    const options = { name: `tollgate_${name}`, help, aggregator, labelNames, registers };
    new prometheus.Gauge({ ...options, collect: reads });
  };
  gauge('requests_in_flight', 'Requests that are being served.', (one) => {
    one.set(facts.in_flight);
  });
  gauge('in_flight_bytes', 'What their bodies and answers weigh in memory.', (one) => {
    one.set(facts.in_flight_bytes);
  });
  gauge('sockets_open', 'WebSockets of clients that are open.', (one) => {
    one.set(facts.sockets_open);
  });
  gauge('journal_charges', 'Charges that wait on disk for the store.', (one) => {
    one.set(facts.journal_charges);
  });
  gauge('records_waiting', 'Records of requests that wait for the store.', (one) => {
    one.set(facts.records_waiting);
  });
  const fault = 'An edited gateway.yaml was refused, and the older one serves.';
  const isFaulty = (one: Gauge): void => one.set(Number(facts.has_configuration_fault));
  gauge('configuration_fault', fault, isFaulty, { aggregator: 'max' });
  addBoxes(gauge, facts);
  addDropped(prometheus, registry, facts);
  addStore(gauge, facts);
  addProviders(gauge, facts);
}

function addDropped(prometheus: Prometheus, registry: Registry, facts: GatewayFacts): void {
  new prometheus.Counter({
    name: 'tollgate_records_dropped_total',
    help: 'Records of requests that are nowhere in the store.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(facts.records_dropped);
    },
  });
}

type AddGauge = (
  name: string,
  help: string,
  collect: Collect,
  options?: { aggregator?: Aggregator; labelNames?: string[] },
) => void;

function addBoxes(gauge: AddGauge, facts: GatewayFacts): void {
  const max = { aggregator: 'max' as const };
  const share = 'Boxes whose heartbeats this store has.';
  gauge('boxes', share, (one) => one.set(facts.boxes), max);
  const differ = 'Boxes on this store differ in a part for more than a minute.';
  const set = (one: Gauge): void => {
    for (const part of DIFFERING_PARTS) {
      one.set({ part }, Number(facts.boxes_differ_in.includes(part)));
    }
  };
  gauge('boxes_differ', differ, set, { ...max, labelNames: ['part'] });
  const offset = "How far the clock of this box is from the database's, either way.";
  const apart = (one: Gauge): void => one.set(Math.abs(facts.clock_offset_ms) / 1_000);
  gauge('boxes_clock_offset_seconds', offset, apart, max);
}

function addStore(gauge: AddGauge, facts: GatewayFacts): void {
  const pinged = async (): Promise<number | undefined> => {
    const began = performance.now();
    const isUp = await inTime(facts.ping().then(() => true));
    return isUp ? (performance.now() - began) / 1_000 : undefined;
  };
  // Both gauges of a scrape share one ping.
  let pending: Promise<number | undefined> | undefined;
  const ping = (): Promise<number | undefined> =>
    (pending ??= pinged().finally(() => (pending = undefined)));
  const up = async (one: Gauge): Promise<void> => {
    const took_s = await ping();
    one.set(Number(took_s !== undefined && facts.is_store_up));
  };
  gauge('store_up', 'The store takes writes.', up, { aggregator: 'min' });
  const wait = async (one: Gauge): Promise<void> => setOrClear(one, await ping());
  gauge('store_wait_seconds', 'How long a write waited for the store.', wait, {
    aggregator: 'max',
  });
  const held = async (of: 'count' | 'amount_nano', scale: number): Promise<number | undefined> => {
    const holds = await inTime(facts.holds());
    return holds && Number(holds[of]) / scale;
  };
  const open = async (one: Gauge): Promise<void> => setOrClear(one, await held('count', 1));
  const amount = async (one: Gauge): Promise<void> =>
    setOrClear(one, await held('amount_nano', NANO));
  gauge('holds_open', 'Holds of all processes on this store.', open, { aggregator: 'max' });
  gauge('holds_dollars', 'What they hold.', amount, { aggregator: 'max' });
}

/** An unknown value is absent. Alerting rules can tell that from 0. */
function setOrClear(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}

/** The result of a read, or undefined if it fails or takes too long. */
function inTime<T>(read: Promise<T>): Promise<T | undefined> {
  return withTimeout(
    read.catch(() => undefined),
    STORE_MS,
  );
}

function addProviders(gauge: AddGauge, facts: GatewayFacts): void {
  const each = (set: (one: Gauge, provider: string, outcomes: ProviderOutcomes) => void) => {
    return (one: Gauge): void => {
      one.reset();
      for (const [name, outcomes] of Object.entries(facts.providers())) set(one, name, outcomes);
    };
  };
  gauge(
    'provider_recent_calls',
    'Calls of the last five minutes; refused are those where the request was at fault.',
    each((one, provider, outcomes) => {
      for (const outcome of OUTCOMES) one.set({ provider, outcome }, outcomes[outcome]);
    }),
    { labelNames: ['provider', 'outcome'] },
  );
  gauge(
    'upstream_unpriced',
    'What an upstream reports that no price covers.',
    (one) => {
      one.reset();
      for (const [provider, { unpriced = [] }] of Object.entries(facts.providers())) {
        for (const { model, unit } of unpriced) one.set({ provider, model, unit }, 1);
      }
    },
    { aggregator: 'max', labelNames: ['provider', 'model', 'unit'] },
  );
  gauge(
    'upstream_resting',
    'An upstream fails, and is left alone while another can serve.',
    (one) => {
      one.reset();
      for (const { provider, model } of facts.resting()) one.set({ provider, model }, 1);
    },
    { aggregator: 'max', labelNames: ['provider', 'model'] },
  );
  const times = { aggregator: 'max' as const, labelNames: ['provider'] };
  gauge(
    'provider_last_success_timestamp_seconds',
    'When a provider has last answered.',
    each((one, provider, { last_success_ms }) => {
      if (last_success_ms !== null) one.set({ provider }, last_success_ms / 1_000);
    }),
    times,
  );
  gauge(
    'provider_last_failure_timestamp_seconds',
    'When a provider has last failed.',
    each((one, provider, { last_failure }) => {
      if (last_failure !== null) one.set({ provider }, last_failure.at_ms / 1_000);
    }),
    times,
  );
}
