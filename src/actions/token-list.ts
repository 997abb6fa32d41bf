import { listAction } from './action.js';
import { isoTime } from './shapes.js';

export const listTokens = listAction({
  name: 'token list',
  rows: ({ store }) => store.tokens.list(),
  shape: ({ id, name, prefix, scopes, created_ms, last_used_ms, expires_ms, revoked_ms }) => ({
    id,
    name,
    prefix,
    scopes,
    created: isoTime(created_ms),
    last_used: isoTime(last_used_ms),
    expires: isoTime(expires_ms),
    revoked: isoTime(revoked_ms),
  }),
  csv: {
    file: 'tokens.csv',
    columns: () => ['id', 'name', 'prefix', 'scopes', 'created', 'last_used', 'expires', 'revoked'],
  },
  command: {
    about: 'show every token',
    example: 'tollgate token list',
    is_whole: true,
    none: () => 'There is no token yet: make one with "token create".',
  },
});
