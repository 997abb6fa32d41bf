import type { Store } from '../store/store-types.js';
import type { ConfigFault } from '../core/config-fault.js';
import { UsageError } from './command.js';
import { commandIo } from './command-io.js';
import type { Account } from '../store/accounts/accounts.js';
import { environmentOf } from './environment.js';

/**
 * Opens the store of a configuration, also while `serve` uses it. It reads no other part of the
 * file, so it works in a shell without the secrets of the service, and, with a warning, where the
 * file is no YAML: a key must be revocable then too. Throws `StoreError` where there is no store,
 * unless the command is one that may make it, and where the store is of another version: only
 * `serve` and `migrate` migrate it.
 */
export async function withStore<T>(
  file: string,
  work: (store: Store) => Promise<T>,
  { creates }: { creates: boolean } = { creates: false },
): Promise<T> {
  // Imported here, so that a command without a store starts fast.
  const { storePlaceOf, timeZoneOf } = await import('../config/single-settings.js');
  const { openStore } = await import('../store/open.js');
  const env = environmentOf(file);
  const place = await storePlaceOf(file, env, (fault) => warnOfBroken(file, fault));
  const time_zone = await timeZoneOf(file, env, () => undefined);
  const purpose = creates ? 'creating' : 'using';
  const store = await openStore(place, { now: Date.now, time_zone, purpose });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Says on standard error what is wrong with a file of which only `store` is used. */
function warnOfBroken(file: string, { line, column, message }: ConfigFault): void {
  commandIo().stderr.write(
    `warning: ${file} is not valid YAML: line ${line}, column ${column}: ${message}.\n` +
      'This command used only its store. The gateway cannot start with this file, nor load it.\n',
  );
}

/** The account with this ID or name. Throws `UsageError` if there is none. */
export async function accountCalled(store: Store, id_or_name: string): Promise<Account> {
  const account = await store.account(id_or_name);
  if (!account) {
    throw new UsageError(`there is no account "${id_or_name}"; "tollgate account list" shows all`);
  }
  return account;
}
