import { lowerAddress } from '../../allowed.js';
import type { IdentityProvider } from '../../config/types.js';
import { GatewayError } from '../../errors.js';
import type { Identity } from '../../store/people-types.js';
import type { Proofs } from './proofs.js';

/** A third party at work. What it throws is for `refusalOf` to put into words. */
export interface IdentityService {
  title: string;
  /** Where the browser is sent to sign in. */
  begin(redirect_uri: string, proofs: Proofs): Promise<URL>;
  /** Who has come back to `callback`, the redirect URI with what the provider put behind it. */
  finish(callback: URL, proofs: Proofs): Promise<Identity>;
}

/** Checks what a provider tells of somebody, whatever it says. */
export function identityOf(
  { name: provider, title }: IdentityProvider,
  told: { subject: unknown; email: unknown; verified: unknown },
): Identity {
  const { subject, email, verified } = told;
  if (typeof subject !== 'string' || subject === '' || subject.length > 255) {
    throw new GatewayError('upstream_error', `${title} does not say who you are.`);
  }
  if (typeof email !== 'string' || !/^[^@\s\p{C}]{1,64}@[^@\s\p{C}]{1,253}$/u.test(email)) {
    throw new GatewayError('forbidden', `${title} does not tell your e-mail address.`);
  }
  if (verified !== true) {
    const message = `${title} has not verified your e-mail address: verify it there first.`;
    throw new GatewayError('forbidden', message);
  }
  return { provider, subject, email: lowerAddress(email) };
}
