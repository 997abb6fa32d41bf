import type { ConfigFault } from '../core/config-fault.js';
import { formatDollars } from '../lib/money.js';
import type { Store } from '../store/store-types.js';
import { sentence } from './command.js';
import { environmentOf } from './environment.js';
import { placeIn } from './fault-place.js';
import { listenAddress } from './listen.js';
import { formatTime } from './print.js';
import { readinessAt } from './readiness.js';
import { withStore } from './store.js';

export interface StatusOptions {
  config: string;
  listen?: string;
}

const HOUR_MS = 3_600_000;

/** What `tollgate status --json` prints. */
export type StatusReport = Awaited<ReturnType<typeof reportOf>>;

/** Asks the gateway, the configuration and the store; each may be broken by itself. */
export async function reportOf({ config, listen }: StatusOptions, now_ms: number) {
  const { journalFolderOf, listenAddressOf, storePlaceOf } =
    await import('../config/single-settings.js');
  const { chargesIn } = await import('../store/journal/journal.js');
  const { check } = await import('../gateway/check.js');
  const env = environmentOf(config);
  // The report has the faults of the file.
  const ignored = (): void => undefined;
  const address =
    listen === undefined ? await listenAddressOf(config, env, ignored) : listenAddress(listen);
  const { url } = await storePlaceOf(config, env, ignored);
  const { faults, configuration } = await check(config, env);
  const { listAge } = await import('../config/list-age.js');
  const { MODALITIES } = await import('../modalities/index.js');
  const store = await inStore(config, now_ms);
  return {
    time: formatTime(now_ms),
    serving: await readinessAt(address),
    configuration: configurationOf(config, faults),
    store: { kind: url.startsWith('sqlite:') ? 'sqlite' : 'postgres', ...store.state },
    list_prices: configuration ? await listAge(configuration, MODALITIES, now_ms) : null,
    // Charges that wait on this machine for the store to take them.
    waiting_charges: await chargesIn(await journalFolderOf(config, env, url, ignored)),
    ...store.figures,
  };
}

function configurationOf(file: string, faults: readonly ConfigFault[]) {
  const errors = faults.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  return {
    file,
    errors: errors.length,
    warnings: faults.length - errors.length,
    first_error: first ? `${placeIn(file, first)}: ${first.message}` : null,
  };
}

type Figures = Awaited<ReturnType<typeof figuresOf>>;

/** The figures are null where the store does not answer. */
async function inStore(config: string, now_ms: number) {
  const none = { boxes: null, holds: null, upstreams: null, requests: null } satisfies Record<
    keyof Figures,
    null
  >;
  try {
    const figures: Figures | typeof none = await withStore(config, (store) => {
      return figuresOf(store, now_ms);
    });
    return { state: { answers: true, reason: null }, figures };
  } catch (error) {
    return { state: { answers: false, reason: sentence(error) }, figures: none };
  }
}

async function figuresOf(store: Store, now_ms: number) {
  const { count, amount_nano } = await store.openHolds();
  return {
    boxes: await boxesIn(store),
    holds: { count, amount: formatDollars(amount_nano) },
    upstreams: await upstreamsOf(store),
    requests: await requestsOf(store, now_ms),
  };
}

async function boxesIn(store: Store) {
  const { boxesOf } = await import('../telemetry/boxes.js');
  const { boxShape } = await import('../actions/box-list.js');
  const { count, boxes, differences } = boxesOf(await store.processes());
  return { count, differences, data: boxes.map(boxShape) };
}

/** The calls of the last minutes, summed over all processes that live. */
async function upstreamsOf(store: Store) {
  const { mergedReports } = await import('../telemetry/provider-health.js');
  const { restShape } = await import('../actions/provider-list.js');
  const rests = await store.rests.list();
  const restingAt = (name: string) =>
    rests.filter(({ provider }) => provider === name).map(restShape);
  const reports = mergedReports(await store.notes());
  return Object.entries(reports).map(([name, one]) => ({
    name,
    answered: one.answered,
    refused: one.refused,
    failed: one.failed,
    last_success: formatTime(one.last_success_ms),
    last_failure: one.last_failure && {
      time: formatTime(one.last_failure.at_ms),
      fault: one.last_failure.fault,
      message: one.last_failure.message,
    },
    resting: restingAt(name),
    unpriced: one.unpriced ?? [],
  }));
}

/** From the totals, which are by the hour: the present hour and the one before. */
async function requestsOf({ requests }: Store, now_ms: number) {
  const from_ms = Math.floor(now_ms / HOUR_MS) * HOUR_MS - HOUR_MS;
  const range = { from_ms, to_ms: now_ms + 1, by: [] };
  const [totals] = await requests.totals({ ...range, period: 'hour' });
  const [latencies] = await requests.latencies(range);
  const { calls, failed } = totals ?? { calls: 0, failed: 0 };
  return {
    since: formatTime(from_ms),
    count: calls,
    failed,
    error_rate: calls === 0 ? null : Number((failed / calls).toFixed(4)),
    p95_ms: latencies?.took ? Math.round(latencies.took.p95_ms) : null,
  };
}
