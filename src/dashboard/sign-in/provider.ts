import type { IdentityProvider } from '../../core/configuration.js';
import { createGithub } from './github.js';
import type { IdentityService } from './identity.js';
import { createOpenId } from './openid.js';

/** A provider of the file, at work. */
export function createIdentityService(
  provider: IdentityProvider,
  now: () => number,
): IdentityService {
  return provider.kind === 'github' ? createGithub(provider) : createOpenId(provider, now);
}
