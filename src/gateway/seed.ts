import type { Configuration } from '../core/configuration.js';
import type { Store } from '../store/store-types.js';

export interface FirstStart {
  account: string;
  credit_nano: bigint;
  secret: string;
}

/**
 * Where the file asks for it and the store holds no account yet: makes one with credit and a key,
 * so that a newcomer's first call works. The secret is in the answer and nowhere else.
 */
export async function firstStart(
  { first_start }: Configuration,
  store: Store,
): Promise<FirstStart | undefined> {
  if (!first_start || (await store.accounts({ limit: 1 })).length > 0) return undefined;
  const { account: name, credit_nano } = first_start;
  const account = await store.createAccount(name, credit_nano);
  const { secret } = await store.createKey(account.id, 'first key');
  return { account: account.name, credit_nano, secret };
}
