import type { UnpricedUnit } from '../schema-types/outcome-report.js';
import { mergedReports, WINDOW_MINUTES } from '../telemetry/provider-health.js';
import { oneAction, requireGateway, type ActionServices } from './action.js';
import { isoTime } from './shapes.js';
import type { Rest } from '../store/rests/rests.js';

/** The recent calls to a provider, summed over all processes. */
export interface ProviderShape {
  name: string;
  manifest: string;
  answered: number;
  /** Failures that the request caused. */
  refused: number;
  failed: number;
  last_success: string | null;
  last_failure: { at: string; fault: string; message: string } | null;
  /** The upstreams that fail and are left alone. */
  resting: RestShape[];
  /** What its answers reported that no price covers, by the missing field of the price. */
  unpriced: UnpricedUnit[];
}

/** An upstream that rests. `told`: it said itself when it may be called again. */
export interface RestShape {
  model: string;
  fault: string;
  failures: number;
  since: string;
  until: string;
  told: boolean;
}

export function restShape(rest: Rest): RestShape {
  const { model, fault, failures, since_ms, until_ms, told_until_ms } = rest;
  const times = { since: isoTime(since_ms), until: isoTime(until_ms) };
  return { model, fault, failures, ...times, told: told_until_ms >= until_ms };
}

export interface ProvidersShape {
  window_s: number;
  /** The number of processes that reported. */
  processes: number;
  data: ProviderShape[];
}

/** The columns of providers in a file for spreadsheets. */
export const PROVIDER_COLUMNS = [
  'name',
  'manifest',
  'answered',
  'refused',
  'failed',
  'last_success',
  'last_failure.at',
  'last_failure.fault',
  'last_failure.message',
];

export const listProviders = oneAction({
  name: 'provider list',
  run: providersHealth,
  routes: [
    {
      method: 'GET',
      path: '/api/providers',
      scope: 'gateway:read',
      id: 'listProviders',
      summary: 'Get the recent outcomes of the calls to each provider, over all processes',
      status: 200,
      answer: 'ProviderList',
    },
  ],
  answer: (health) => health,
});

/**
 * The health of the providers in the current configuration. The numbers of this process are
 * current; the numbers of other processes are as old as their last heartbeat.
 */
async function providersHealth({ store, gateway }: ActionServices): Promise<ProvidersShape> {
  const { health, configuration } = requireGateway(gateway);
  await store.heartbeat(JSON.stringify(health.report()));
  const notes = await store.notes();
  const total = mergedReports(notes);
  const rests = await store.rests.list();
  const data = [...configuration.providers.values()].map(({ name, manifest }) => {
    const known = total[name];
    const failure = known?.last_failure;
    return {
      name,
      manifest,
      answered: known?.answered ?? 0,
      refused: known?.refused ?? 0,
      failed: known?.failed ?? 0,
      last_success: isoTime(known?.last_success_ms ?? null),
      last_failure: failure
        ? { at: isoTime(failure.at_ms), fault: failure.fault, message: failure.message }
        : null,
      resting: rests.filter(({ provider }) => provider === name).map(restShape),
      unpriced: [...(known?.unpriced ?? [])],
    };
  });
  return { window_s: WINDOW_MINUTES * 60, processes: notes.length, data };
}
