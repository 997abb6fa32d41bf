import type { IdentityProvider } from '../../core/configuration.js';
import { createGithub } from './github.js';
import type { IdentityService } from './identity.js';
import { createOpenId } from './openid.js';

/** Makes the client of a provider entry. */
export function createIdentityService(
  provider: IdentityProvider,
  now: () => number,
): IdentityService {
  return provider.kind === 'github' ? createGithub(provider) : createOpenId(provider, now);
}
