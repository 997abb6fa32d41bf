import type { RateLimits } from '../core/configuration.js';
import { ratesInForce, type Rates } from '../core/limits.js';
import { ownedCounter } from '../store/rates/rate-counts.js';
import type { Store } from '../store/store-types.js';
import { accountOfId, NotThere, oneAction } from './action.js';
import { withOwnAllowances } from './limit-terms.js';
import { accountShape, keyShape, limitShape, ratesLeftShape } from './shapes.js';

/** The key that asks, so that a program can see what is left of its limits. */
export const showCallingKey = oneAction({
  name: 'key show',
  async run({ store, gateway }, { account_id }: { account_id: string }, { key_id = '' }) {
    const key = await store.key(key_id);
    if (!key) throw new NotThere('There is no such key.', `there is no key "${key_id}"`);
    const account = await accountOfId(store, account_id);
    return {
      key: await withOwnAllowances(store, 'key', key),
      account: await withOwnAllowances(store, 'account', account),
      rates_left: await ratesLeft(store, gateway?.configuration.rates ?? {}, { key, account }),
    };
  },
  routes: [
    {
      method: 'GET',
      path: '/api/key',
      takes_keys: 'alone',
      id: 'getKey',
      summary: 'Get the terms of the key that asks, and what is left of each limit',
      status: 200,
      answer: 'CallingKey',
    },
  ],
  answer: ({ key, account, rates_left }) => ({
    ...keyShape(key),
    rates_left: rates_left.key,
    account: {
      available: accountShape(account).available,
      ...limitShape(account),
      rates_left: rates_left.account,
    },
  }),
});

interface WithRates {
  id: string;
  rates: Rates | null;
}

async function ratesLeft(
  store: Store,
  general: RateLimits,
  { key, account }: { key: WithRates; account: WithRates },
) {
  const counters = [ownedCounter('key', key.id), ownedCounter('account', account.id)];
  const [of_key, of_account] = await store.rates.counts(counters);
  return {
    key: ratesLeftShape(ratesInForce(general.key, key.rates) ?? {}, of_key!),
    account: ratesLeftShape(ratesInForce(general.account, account.rates) ?? {}, of_account!),
  };
}
