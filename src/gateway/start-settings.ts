import { isAbsolute, relative } from 'node:path';
import type { Configuration } from '../core/configuration.js';
import type { StorePlace } from '../core/store-place.js';

/** The keys of gateway.yaml that only a start takes up, with the value that each stands for. */
const START: Readonly<Record<string, (configuration: Configuration) => unknown>> = {
  listen: ({ listen }) => listen,
  store: ({ store, directory }) => ({
    ...store,
    url: urlInFolder(store, directory),
    ca: store.ca && relative(directory, store.ca),
  }),
  journal: ({ journal, directory }) => relative(directory, journal),
  time_zone: ({ time_zone }) => time_zone,
  metrics: ({ metrics }) => metrics,
  traces: ({ traces }) => traces,
  alerts: ({ alerts }) =>
    alerts && { ...alerts, low_balance_nano: String(alerts.low_balance_nano) },
  'log.level': ({ log_level }) => log_level,
  'log.format': ({ log_format }) => log_format,
  'limits.connections': ({ limits }) => limits.connections,
  'limits.idle_connection': ({ limits }) => limits.idle_connection_ms,
  'limits.journal_bytes': ({ limits }) => limits.journal_bytes,
};

/** The values of the same keys, by their paths in the configuration. */
export const START_VALUES: readonly string[] = [
  'listen',
  'store',
  'journal',
  'metrics',
  'traces',
  'alerts',
  'log_level',
  'log_format',
  'limits.connections',
  'limits.idle_connection_ms',
  'limits.journal_bytes',
];

/** The changed keys that a running gateway takes up at its next start only. */
export function restartKeys(before: Configuration, after: Configuration): string[] {
  const isChanged = (of: (configuration: Configuration) => unknown): boolean =>
    JSON.stringify(of(before)) !== JSON.stringify(of(after));
  return Object.keys(START).filter((key) => START[key] && isChanged(START[key]));
}

/** The sentence about such keys, for the log, the audit log, `/readyz` and `diff`. */
export function restartSentence(keys: readonly string[]): string | undefined {
  return keys.length === 0 ? undefined : `only a restart takes up ${keys.join(', ')}`;
}

/** What serves after a reload: the new configuration with the settings of the start. */
export function inForce(started: Configuration, next: Configuration): Configuration {
  const { listen, store, journal, time_zone, metrics, traces, alerts, log_level, log_format } =
    started;
  const { connections, idle_connection_ms, journal_bytes } = started.limits;
  const limits = { ...next.limits, connections, idle_connection_ms, journal_bytes };
  const kept = {
    listen,
    store,
    journal,
    time_zone,
    metrics,
    traces,
    alerts,
    log_level,
    log_format,
  };
  return Object.freeze({ ...next, ...kept, limits: Object.freeze(limits) });
}

/** Whether another database is named than before. */
export function isOtherStore(before: Configuration, after: Configuration): boolean {
  const [old, now] = [before, after].map((one) => urlInFolder(one.store, one.directory));
  return old !== now;
}

/** A SQLite file seen from the folder of its configuration, which may be a copy elsewhere. */
function urlInFolder({ url }: StorePlace, directory: string): string {
  const path = url.slice('sqlite:'.length);
  return url.startsWith('sqlite:') && isAbsolute(path) ? relative(directory, path) : url;
}
