import { lowerAddress } from '../../config/allow-list.js';
import type { IdentityProvider } from '../../core/configuration.js';
import { GatewayError } from '../../core/errors.js';
import type { Identity } from '../../store/sign-in/sign-in-types.js';
import type { Proofs } from './proofs.js';

/** The client of an identity provider. `refusalOf` turns its errors into sentences. */
export interface IdentityService {
  title: string;
  /** The URL at the provider that the browser is sent to. */
  begin(redirect_uri: string, proofs: Proofs): Promise<URL>;
  /** The person who came back to `callback`, the redirect URI with the provider's query. */
  finish(callback: URL, proofs: Proofs): Promise<Identity>;
}

/** Text that both databases can store. */
const SUBJECT = /^[^\p{Cc}\p{Cs}]{1,255}$/u;
/** No blanks and no invisible characters, by which an address could look like another one. */
const EMAIL =
  /^[^@\s\p{C}\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u3164\uFFA0]{1,64}@[^@\s\p{C}]{1,253}$/u;

/**
 * Checks the identity that a provider returns, since its answer may hold anything. Throws
 * `GatewayError`: 502 without a valid subject, 403 without a verified e-mail address.
 */
export function identityOf(
  { name: provider, title }: IdentityProvider,
  claims: { subject: unknown; email: unknown; verified: unknown },
): Identity {
  const { subject, email, verified } = claims;
  if (typeof subject !== 'string' || !SUBJECT.test(subject)) {
    throw new GatewayError('upstream_error', `${title} does not say who you are.`);
  }
  if (typeof email !== 'string' || !EMAIL.test(email)) {
    throw new GatewayError('forbidden', `${title} does not tell your e-mail address.`);
  }
  if (verified !== true) {
    const message = `${title} has not verified your e-mail address: verify it there first.`;
    throw new GatewayError('forbidden', message);
  }
  return { provider, subject, email: lowerAddress(email) };
}
