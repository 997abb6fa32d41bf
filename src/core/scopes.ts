/**
 * The scopes of management tokens. Each route of the management API names the scope that it needs.
 */
export const SCOPES = {
  'accounts:read': 'list and read accounts',
  'accounts:write': 'make, limit, suspend and resume accounts',
  'credit:write': 'credit accounts',
  'refunds:write': 'refund charges',
  'keys:read': 'list the API keys of accounts',
  'keys:write': 'make, edit, rotate and revoke the API keys of accounts',
  'ledger:read': 'read the ledgers of accounts',
  'usage:read': 'read the usage of accounts',
  'requests:read': 'read the records of requests, of all accounts',
  'sign-in-links:write': 'make links that sign in to an account, never as an operator',
  'audit:read': 'read the audit log',
  'gateway:read': 'read the configuration, the boxes, the tasks and the health of providers',
  'gateway:write': 'call a provider again that is left alone since it failed',
} as const;

export type Scope = keyof typeof SCOPES;

export const SCOPE_NAMES = Object.keys(SCOPES) as Scope[];

export function isScope(word: string): word is Scope {
  return Object.hasOwn(SCOPES, word);
}
