import { createToken } from '../../../actions/token-create.js';
import type { DashboardServices, Route } from '../../types.js';
import { Card, Code } from '../parts.js';
import { secretFormRoutes } from '../secret-form.js';
import { TOKENS, TOKENS_TITLE } from './tokens.js';

/** The form for a management token, and the page that shows its secret once. */
export function createTokenRoutes(services: DashboardServices): Route[] {
  const { public_url } = services.configuration;
  return secretFormRoutes(services, {
    noun: 'token',
    prefix: 'mgt_',
    title: 'Create management token',
    submit: 'Create token',
    access: 'operator',
    above: { path: TOKENS, name: TOKENS_TITLE },
    action: createToken,
    shown({ token: { name, scopes }, secret }) {
      const call = `curl ${public_url}/api/accounts \\\n  -H "authorization: Bearer ${secret}"`;
      return {
        title: 'Your new management token',
        about: `It is called “${name}”. Its scopes are ${scopes.join(', ')}.`,
        hint: 'A program sends it as the header authorization, after “Bearer”.',
        use: scopes.includes('accounts:read') && (
          <Card title="Use it">
            <Code label="curl" text={call} wrap />
          </Card>
        ),
      };
    },
  });
}
