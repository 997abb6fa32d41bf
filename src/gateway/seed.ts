import type { Configuration } from '../core/configuration.js';
import type { Store } from '../store/store-types.js';
import { GATEWAY } from '../core/actor.js';
import { createSignInLink, type SignInLink } from '../actions/sign-in-link-create.js';

/** The first account, with the secret of its key, which is shown once. */
export interface Seeded {
  account: string;
  credit_nano: bigint;
  secret: string;
  /** Signs in as an operator; undefined if the dashboard is off. */
  sign_in: SignInLink | undefined;
}

/**
 * Creates the first account, with credit, a key and a sign-in link, if gateway.yaml has
 * `first_start` and the store has no account yet. Only the return value holds the secrets.
 */
export async function seedStore(
  configuration: Configuration,
  store: Store,
): Promise<Seeded | undefined> {
  const { first_start, dashboard } = configuration;
  if (!first_start || (await store.accounts({ limit: 1 })).length > 0) return undefined;
  const { account: name, credit_nano } = first_start;
  const account = await store.createAccount(name, credit_nano);
  const { secret } = await store.createKey(account.id, 'first key');
  const services = { store, now: Date.now, publicUrl: () => configuration.public_url };
  const input = { account_id: account.id, is_operator: true };
  const caller = { actor: GATEWAY, is_operator: true };
  const sign_in = dashboard ? await createSignInLink.run(services, input, caller) : undefined;
  return { account: account.name, credit_nano, secret, sign_in };
}
