import type { Reconciliation } from '../../reconcile/report.js';
import type { DashboardServices } from '../types.js';

/** The last comparison with a bill of each provider, the newest first, as `reconcile` kept it. */
export async function keptBills({
  store,
}: Pick<DashboardServices, 'store'>): Promise<Reconciliation[]> {
  const kept = await store.reconciliations.kept();
  return kept.map(({ report }) => JSON.parse(report) as Reconciliation);
}
