import { nothingAvailable } from '../billing/payment-required.js';
import type { Services } from './services.js';
import { fact, type State } from './stage.js';
import { namedModels } from '../core/configuration.js';
import { isFree, mayUseModel } from '../core/model.js';

/** Throws `GatewayError` (402) if the account has nothing available. */
export async function refuseEmpty(state: State, { store }: Services): Promise<void> {
  const { account_id, empty } = fact(state, 'caller');
  if (!empty) return;
  const account = await store.account(account_id);
  const { balance_nano, held_nano } = account ?? { balance_nano: 0n, held_nano: 0n };
  if (balance_nano - held_nano > 0n) return;
  throw nothingAvailable(balance_nano, held_nano);
}

/**
 * Decides whether the large body of a caller is read: the account must have something available, or
 * the key must be allowed to use a free model. Throws `GatewayError` (402) otherwise. Before `auth`
 * there is no caller to check.
 */
export function admission(services: Services): (state: State) => Promise<void> {
  const free = namedModels(services.configuration).filter(isFree);
  return async (state) => {
    const { caller } = state;
    if (!caller) return;
    const { models } = caller;
    if (free.some((model) => mayUseModel(models, model))) return;
    await refuseEmpty(state, services);
  };
}
