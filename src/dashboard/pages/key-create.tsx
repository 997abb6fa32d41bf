import { createKey } from '../../actions/key-create.js';
import { namedModels } from '../../core/configuration.js';
import { publicName } from '../../core/model.js';
import type { DashboardServices, Route } from '../types.js';
import { agentModels } from '../coding-agents.js';
import { AgentCards } from './agents.js';
import { Card, Code } from './parts.js';
import { secretFormRoutes } from './secret-form.js';

const HINT =
  'Keep it out of version control and of programs that run in a browser; an environment variable ' +
  'is a good place.';

/** The form for a new key, and the page that shows its secret once. */
export function createKeyRoutes(services: DashboardServices): Route[] {
  const { configuration } = services;
  const { public_url } = configuration;
  return secretFormRoutes(services, {
    noun: 'key',
    prefix: 'key_',
    title: 'Create API Key',
    submit: 'Create API Key',
    access: 'session',
    above: { path: '/settings/keys', name: 'API Keys' },
    action: createKey,
    more: ({ session: { account_id } }) => ({ account_id }),
    models: namedModels(configuration).map(publicName),
    shown({ key, secret }) {
      const suited = agentModels(configuration);
      const models = suited.filter((id) => key.models?.includes(id) ?? true);
      const text = `export OPENAI_BASE_URL=${public_url}/v1\nexport OPENAI_API_KEY=${secret}`;
      return {
        title: 'Your new API key',
        about: `It is called “${key.name}”.`,
        hint: HINT,
        use: (
          <>
            <Card title="Use it">
              <Code label="environment" text={text} />
            </Card>
            {models.length > 0 && <p class="soft">Or start a coding agent with it:</p>}
            <AgentCards configuration={configuration} models={models} secret={secret} />
          </>
        ),
      };
    },
  });
}
