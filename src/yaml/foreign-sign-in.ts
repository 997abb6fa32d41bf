const LINK =
  'people sign in at a provider, or by a link of tollgate sign-in-link ACCOUNT: remove this';
const DEEPER = 'write providers: { NAME: { issuer: URL, client_id: ID } }';

/** Keys of other programs for signing in, and their place here. */
export const SIGN_IN: Readonly<Record<string, string>> = {
  google: 'write providers: { google: { issuer: https://accounts.google.com, client_id: ID } }',
  github: 'write providers: { github: { kind: github, client_id: ID } }',
  gitlab: 'write providers: { gitlab: { issuer: https://gitlab.com, client_id: ID } }',
  microsoft: DEEPER,
  azure: DEEPER,
  entra: DEEPER,
  okta: DEEPER,
  auth0: DEEPER,
  keycloak: DEEPER,
  authentik: DEEPER,
  oidc: DEEPER,
  username: LINK,
  user: LINK,
  password: LINK,
  domains: "write allow: ['@example.org']",
  allowed_domains: "write allow: ['@example.org']",
  whitelist: "write allow: ['@example.org', ada@example.com]",
  emails: "write allow: ['@example.org', ada@example.com]",
  admins: 'write operators: VALUE',
  users: "write allow: ['@example.org', ada@example.com]",
};

const KIND = 'remove this, and for GitHub write kind: github';

/** Keys of other programs for one identity provider, and what to write here. */
export const IDENTITY: Readonly<Record<string, string>> = {
  type: KIND,
  provider: KIND,
  discovery_url: 'use issuer instead, without /.well-known/openid-configuration',
  well_known: 'use issuer instead, without /.well-known/openid-configuration',
  url: 'use issuer instead, the address without /.well-known/openid-configuration',
  redirect_uri: 'it is PUBLIC_URL/sign-in/NAME/callback: register that there, and remove this',
  callback_url: 'it is PUBLIC_URL/sign-in/NAME/callback: register that there, and remove this',
};
