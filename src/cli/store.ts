import type { Store } from '../store/store-types.js';
import { UsageError } from './command.js';
import type { Account } from '../store/accounts/accounts.js';

/**
 * Opens the store that a configuration names, beside a `serve` that may be running on it. Reads no
 * more of the file than that, so it works in a shell without the service's secrets.
 */
export async function withStore<T>(file: string, work: (store: Store) => Promise<T>): Promise<T> {
  // Loaded only here, so that a command that needs no store starts at once.
  const { storeOf } = await import('../config/store-of.js');
  const { openStore } = await import('../store/open.js');
  const store = await openStore(await storeOf(file, process.env), { now: Date.now });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** The account with this id or name. Throws `UsageError` where there is none. */
export async function accountCalled(store: Store, id_or_name: string): Promise<Account> {
  const account = await store.account(id_or_name);
  if (!account) {
    throw new UsageError(`there is no account "${id_or_name}"; "tollgate account list" shows all`);
  }
  return account;
}
