import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  type ClientAuth,
  type Configuration,
  type IDToken,
} from 'openid-client';
import type { OpenIdProvider } from '../../core/configuration.js';
import { fetchIdentity, TIMEOUT_S } from './fetch.js';
import { identityOf, type IdentityService } from './identity.js';
import { cached } from './cached.js';

/** How long a provider's metadata is kept. Its signing keys are fetched separately. */
const FRESH_MS = 3_600_000;

/** A provider of OpenID Connect, discovered by its issuer. */
export function createOpenId(provider: OpenIdProvider, now: () => number): IdentityService {
  const metadata = cached(() => discover(provider), FRESH_MS, now);
  return {
    title: provider.title,
    begin: async (redirect_uri, { state, nonce, code_verifier }) =>
      buildAuthorizationUrl(await metadata.get(), {
        redirect_uri,
        scope: provider.scopes.join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(code_verifier),
        code_challenge_method: 'S256',
      }),
    finish: async (callback, { state, nonce, code_verifier }) => {
      const checks = {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: code_verifier,
      };
      try {
        const configuration = await metadata.get();
        const tokens = await authorizationCodeGrant(configuration, callback, checks);
        const claims = tokens.claims();
        return identityOf(
          provider,
          await claimedIdentity(provider, configuration, claims, tokens.access_token),
        );
      } catch (error) {
        // The endpoints or the keys of the provider may have changed.
        metadata.forget();
        throw error;
      }
    },
  };
}

function discover({ issuer, client_id, client_secret }: OpenIdProvider): Promise<Configuration> {
  const url = new URL(issuer);
  return discovery(url, client_id, undefined, authentication(client_secret), {
    execute: [
      enableNonRepudiationChecks,
      ...(url.protocol === 'http:' ? [allowInsecureRequests] : []),
    ],
    timeout: TIMEOUT_S,
    [customFetch]: fetchIdentity,
  });
}

/** Sends the client's secret by a method that the provider lists, or by the standard's default. */
function authentication(client_secret: string | undefined): ClientAuth {
  if (client_secret === undefined) return None();
  const [post, basic] = [ClientSecretPost(client_secret), ClientSecretBasic(client_secret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? [];
    const way = methods.includes('client_secret_post') ? post : basic;
    way(server, client, body, headers);
  };
}

/**
 * Reads the e-mail address and whether it is verified. Both come from the ID token or both from the
 * userinfo endpoint: one source cannot verify the address of the other.
 */
async function claimedIdentity(
  { trust_email }: OpenIdProvider,
  configuration: Configuration,
  claims: IDToken | undefined,
  access_token: string,
): Promise<Parameters<typeof identityOf>[1]> {
  const subject = claims?.sub ?? '';
  const isComplete = claims?.email !== undefined && claims.email_verified !== undefined;
  const needsUserinfo = !isComplete && configuration.serverMetadata().userinfo_endpoint;
  const userinfo = needsUserinfo
    ? await fetchUserInfo(configuration, access_token, subject)
    : undefined;
  const source: Record<string, unknown> | undefined =
    userinfo?.email === undefined ? claims : userinfo;
  const { email, email_verified: verified = trust_email } = source ?? {};
  // Some providers send the boolean as text.
  return { subject, email, verified: verified === true || verified === 'true' };
}
