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
import { remembered } from './remembered.js';

/** How long a provider's metadata is kept. Its signing keys are fetched separately. */
const FRESH_MS = 3_600_000;

/** A provider of OpenID Connect, discovered by its issuer. */
export function createOpenId(provider: OpenIdProvider, now: () => number): IdentityService {
  const known = remembered(() => discover(provider), FRESH_MS, now);
  return {
    title: provider.title,
    begin: async (redirect_uri, { state, nonce, code_verifier }) =>
      buildAuthorizationUrl(await known.get(), {
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
        const configuration = await known.get();
        const tokens = await authorizationCodeGrant(configuration, callback, checks);
        const claims = tokens.claims();
        return identityOf(
          provider,
          await told(provider, configuration, claims, tokens.access_token),
        );
      } catch (error) {
        // Its endpoints or its keys may have changed.
        known.forget();
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
 * The address and whether it is verified, both from the ID token, or else both from the userinfo:
 * one source does not vouch for the other's address.
 */
async function told(
  { trust_email }: OpenIdProvider,
  configuration: Configuration,
  claims: IDToken | undefined,
  access_token: string,
): Promise<Parameters<typeof identityOf>[1]> {
  const subject = claims?.sub ?? '';
  const isWhole = claims?.['email'] !== undefined && claims['email_verified'] !== undefined;
  const asks = !isWhole && configuration.serverMetadata().userinfo_endpoint;
  const more = asks ? await fetchUserInfo(configuration, access_token, subject) : undefined;
  const source: Record<string, unknown> | undefined = more?.email === undefined ? claims : more;
  const { email, email_verified: verified = trust_email } = source ?? {};
  // Some providers send the boolean as text.
  return { subject, email, verified: verified === true || verified === 'true' };
}
