import type { DashboardServices } from '../types.js';

/** The names of the accounts of some rows, by ID. */
export async function accountNames(
  rows: readonly { account_id: string | null }[],
  { store }: Pick<DashboardServices, 'store'>,
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(rows.flatMap(({ account_id }) => account_id ?? []))];
  const accounts = await Promise.all(ids.map((id) => store.account(id)));
  return new Map(accounts.flatMap((one) => (one ? [[one.id, one.name] as const] : [])));
}
