import type { JSX } from 'preact';
import type { Configuration } from '../../core/configuration.js';
import { agentModels, servedAgents, type AgentTarget } from '../coding-agents.js';
import type { DashboardServices, Route } from '../types.js';
import { Choice } from './fields.js';
import { Icon } from './icons.js';
import { sendPage } from './page.js';
import { Card, Code, Empty } from './parts.js';

/** The page that sets coding agents up, for a model that the visitor chooses. */
export function agentsRoute({ configuration }: DashboardServices): Route {
  const models = agentModels(configuration);
  return {
    method: 'GET',
    path: '/agents',
    access: 'session',
    answer: (ctx, visitor) => {
      const wanted = models.find((id) => id === ctx.query.model);
      sendPage(ctx, visitor, {
        title: 'Agents',
        about: 'Coding agents work with your models, on your account, with a key of their own.',
        actions: (
          <a class="button" href="/settings/keys/new">
            <Icon name="keys" />
            Create API Key
          </a>
        ),
        body: <SetUp configuration={configuration} models={models} wanted={wanted} />,
      });
    },
  };
}

function SetUp(props: {
  configuration: Configuration;
  models: readonly string[];
  wanted: string | undefined;
}): JSX.Element {
  const { configuration, models, wanted } = props;
  if (models.length === 0) return <NoModel />;
  const options = models.map((id) => ({ value: id, name: id }));
  return (
    <div class="stack">
      <form class="filters" method="get" action="/agents">
        <Choice label="Model" name="model" value={wanted} options={options} />
        <button>Show</button>
      </form>
      <p class="soft">
        Put a key into your shell, <code>export TOLLGATE_API_KEY=tg-…</code>, and paste. A{' '}
        <a href="/settings/keys/new">new key</a> comes with these lines, filled with it. Its
        spending limit holds for the agent.
      </p>
      <AgentCards configuration={configuration} models={models} wanted={wanted} open />
    </div>
  );
}

function NoModel(): JSX.Element {
  return (
    <Card>
      <Empty title="No model calls tools yet">
        <p>
          Agents work by tools: give a chat model the capability <code>tools</code> in gateway.yaml.
        </p>
      </Empty>
    </Card>
  );
}

/** The set-up of each agent, ready to be pasted; nothing where no model suits any. */
export function AgentCards(props: {
  configuration: Configuration;
  models: readonly string[];
  wanted?: string | undefined;
  secret?: string;
  open?: boolean;
}): JSX.Element | null {
  const { configuration, models, secret, open } = props;
  const { public_url, endpoints } = configuration;
  const model = props.wanted ?? models[0];
  if (model === undefined) return null;
  const target: AgentTarget = {
    public_url,
    models,
    model,
    ...(secret !== undefined && { secret }),
  };
  return (
    <div class="stack">
      {servedAgents(endpoints).map(({ id, name, endpoint, note, lines }) => (
        <details class="card agent" id={id} open={open}>
          <summary>
            <strong>{name}</strong> <span class="hint">{endpoint}</span>
          </summary>
          <div class="body stack">
            <Code label={`set-up of ${name}`} text={lines(target).join('\n')} wrap />
            {note !== undefined && <p class="hint">{note}</p>}
          </div>
        </details>
      ))}
    </div>
  );
}
