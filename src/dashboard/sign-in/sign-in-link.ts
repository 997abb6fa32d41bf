import type { Actor } from '../../core/actor.js';
import type { Store } from '../../store/store-types.js';

const LIFETIME_MS = 10 * 60_000;

export interface SignInLink {
  /** Begins with `public_url`; it holds the secret. */
  url: string;
  due_ms: number;
}

/** Makes a link that signs in to an account once, within ten minutes. */
export async function makeSignInLink(
  { store, configuration }: { store: Store; configuration: { public_url: string } },
  account_id: string,
  { operator, by }: { operator: boolean; by: Actor },
): Promise<SignInLink> {
  const terms = { operator, lifetime_ms: LIFETIME_MS, by };
  const { secret, due_ms } = await store.sign_in.createLink(account_id, terms);
  return { url: `${configuration.public_url}/sign-in/link?token=${secret}`, due_ms };
}
