import type { Account } from '../../store/accounts/accounts.js';
import type { DashboardContext, DashboardServices } from '../types.js';
import { accountOf } from '../views/accounts.js';

/** The account that the path names. Throws `GatewayError` (404) for an unknown one. */
export function accountAt(
  { params }: DashboardContext,
  { store }: DashboardServices,
): Promise<Account> {
  return accountOf(store, params['accountID'] ?? '');
}
