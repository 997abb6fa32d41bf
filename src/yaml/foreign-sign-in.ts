/** Keys of other programs for signing in, and their place here. */
export const SIGN_IN: Readonly<Record<string, string>> = {
  domains: "allow says it: allow: ['@example.org']",
  allowed_domains: "allow says it: allow: ['@example.org']",
  whitelist: "allow says it: allow: ['@example.org', ada@example.com]",
  emails: "allow says it: allow: ['@example.org', ada@example.com]",
  admins: 'operators says it: operators: [ada@example.com]',
  users: "allow says it: allow: ['@example.org', ada@example.com]",
};

export const IDENTITY: Readonly<Record<string, string>> = {
  discovery_url: 'issuer says it, without /.well-known/openid-configuration',
  well_known: 'issuer says it, without /.well-known/openid-configuration',
  url: 'issuer says it: the address that stands before /.well-known/openid-configuration',
  redirect_uri: 'it is PUBLIC_URL/sign-in/NAME/callback: register that there, and remove this',
  callback_url: 'it is PUBLIC_URL/sign-in/NAME/callback: register that there, and remove this',
};
