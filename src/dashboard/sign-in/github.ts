import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretPost,
  Configuration,
  customFetch,
  fetchProtectedResource,
  type CustomFetch,
} from 'openid-client';
import type { GithubProvider } from '../../core/configuration.js';
import { isRecord } from '../../lib/objects.js';
import { fetchIdentity, TIMEOUT_S } from './fetch.js';
import { identityOf, type IdentityService } from './identity.js';

/** GitHub has OAuth without OpenID Connect, so the e-mail address comes from its API. */
export function createGithub(provider: GithubProvider): IdentityService {
  const configuration = configure(provider);
  return {
    title: provider.title,
    begin: async (redirect_uri, { state, code_verifier }) =>
      buildAuthorizationUrl(configuration, {
        redirect_uri,
        scope: provider.scopes.join(' '),
        state,
        code_challenge: await calculatePKCECodeChallenge(code_verifier),
        code_challenge_method: 'S256',
      }),
    finish: async (callback, { state, code_verifier }) => {
      const checks = { expectedState: state, pkceCodeVerifier: code_verifier };
      const { access_token } = await authorizationCodeGrant(configuration, callback, checks);
      const get = (path: string) =>
        getFromApi(configuration, access_token, provider.api_url + path);
      const user = await get('/user');
      const emails = await get('/user/emails');
      const primary: unknown = [emails].flat().find((entry) => isRecord(entry) && entry.primary);
      const { email, verified } = isRecord(primary) ? primary : {};
      const id = isRecord(user) ? user.id : undefined;
      return identityOf(provider, {
        subject: typeof id === 'number' ? String(id) : undefined,
        email,
        verified,
      });
    },
  };
}

function configure({ base_url, client_id, client_secret = '' }: GithubProvider): Configuration {
  const configuration = new Configuration(
    {
      issuer: `${base_url}/login/oauth`,
      authorization_endpoint: `${base_url}/login/oauth/authorize`,
      token_endpoint: `${base_url}/login/oauth/access_token`,
    },
    client_id,
    undefined,
    ClientSecretPost(client_secret),
  );
  configuration.timeout = TIMEOUT_S;
  configuration[customFetch] = fetchGithub;
  if (base_url.startsWith('http:')) allowInsecureRequests(configuration);
  return configuration;
}

/**
 * GitHub answers 200 even when it refuses a code. With status 400, as in the standard, the library
 * reads the error.
 */
const fetchGithub: CustomFetch = async (url, options) => {
  const response = await fetchIdentity(url, options);
  if (response.status !== 200 || options.method !== 'POST') return response;
  const text = await response.text();
  const { headers } = response;
  const refused = /^\s*\{[^{]*"error"\s*:/u.test(text);
  return new Response(text, { status: refused ? 400 : 200, headers });
};

async function getFromApi(
  configuration: Configuration,
  access_token: string,
  address: string,
): Promise<unknown> {
  const headers = new Headers({
    accept: 'application/vnd.github+json',
    'user-agent': 'tollgate',
  });
  const url = new URL(address);
  const response = await fetchProtectedResource(
    configuration,
    access_token,
    url,
    'GET',
    undefined,
    headers,
  );
  if (!response.ok) throw new Error(`The API answers ${response.status}.`);
  return response.json();
}
