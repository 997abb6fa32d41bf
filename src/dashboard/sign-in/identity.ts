import { lowerAddress } from '../../config/allow-list.js';
import type { IdentityProvider } from '../../core/configuration.js';
import { GatewayError } from '../../core/errors.js';
import type { Identity } from '../../store/sign-in/sign-in-types.js';
import type { Proofs } from './proofs.js';

/** A third party at work. What it throws is for `refusalOf` to put into words. */
export interface IdentityService {
  title: string;
  /** Where the browser is sent to sign in. */
  begin(redirect_uri: string, proofs: Proofs): Promise<URL>;
  /** Who has come back to `callback`, the redirect URI with what the provider put behind it. */
  finish(callback: URL, proofs: Proofs): Promise<Identity>;
}

/** Text that every store takes. */
const SUBJECT = /^[^\p{Cc}\p{Cs}]{1,255}$/u;
/** Without blanks, and without what nobody sees, by which it could look like another one. */
const EMAIL =
  /^[^@\s\p{C}\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u3164\uFFA0]{1,64}@[^@\s\p{C}]{1,253}$/u;

/** Checks what a provider tells of somebody, whatever it says. */
export function identityOf(
  { name: provider, title }: IdentityProvider,
  told: { subject: unknown; email: unknown; verified: unknown },
): Identity {
  const { subject, email, verified } = told;
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
