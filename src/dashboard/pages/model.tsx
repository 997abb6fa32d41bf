import type { JSX } from 'preact';
import { modelNamed } from '../../core/configuration.js';
import { GatewayError } from '../../core/errors.js';
import type { Model } from '../../core/model.js';
import type { DashboardServices, Route } from '../types.js';
import { LANGUAGE_NAMES, LANGUAGES } from './call-code.js';
import { Icon } from './icons.js';
import { sendPage } from './page.js';
import { Badge, Card, Code, CopyButton } from './parts.js';
import { limitsOf, pricesOf } from './prices.js';
import { modalityOf, snippet } from './snippet.js';

/** The page of one model: its prices, its limits and a sample call; for operators its upstreams. */
export function modelRoute({ configuration }: DashboardServices): Route {
  const { aliases, owners, public_url } = configuration;
  return {
    method: 'GET',
    path: '/models/*id',
    access: 'session',
    answer: (ctx, visitor) => {
      const model = modelNamed(configuration, ctx.params.id ?? '');
      if (!model) throw new GatewayError('not_found', 'There is no such model.');
      sendPage(ctx, visitor, {
        title: model.id,
        about: owners.get(model.owner)?.name ?? model.owner,
        above: { path: '/models', name: 'Models' },
        at: '/models',
        actions: modalityOf(model).documentation.playground && <PlaygroundLink id={model.id} />,
        body: (
          <Details
            model={model}
            aliases={[...aliases].flatMap(([name, { id }]) => (id === model.id ? [name] : []))}
            public_url={public_url}
            operator={visitor?.operator}
          />
        ),
      });
    },
  };
}

function PlaygroundLink({ id }: { id: string }): JSX.Element {
  return (
    <a class="button" href={`/playground?model=${encodeURIComponent(id)}`}>
      <Icon name="playground" />
      Open in Playground
    </a>
  );
}

function Details(props: {
  model: Model;
  aliases: readonly string[];
  public_url: string;
  operator: boolean | undefined;
}): JSX.Element {
  const { model, aliases, public_url, operator } = props;
  return (
    <div class="split halves">
      <div class="stack">
        <Card title="About">
          {model.description !== undefined && <p>{model.description}</p>}
          <Id id={model.id} />
          {aliases.length > 0 && <p class="soft">Also called {aliases.join(', ')}.</p>}
          <div>
            <h3>Capabilities</h3>
            <div class="row">
              {[...model.capabilities].map((name) => (
                <Badge>{name}</Badge>
              ))}
            </div>
          </div>
          <Facts title="Price" facts={pricesOf(model)} />
          <Facts title="Limits" facts={limitsOf(model)} />
        </Card>
        {operator && <Upstreams model={model} />}
      </div>
      <div>
        <Card title="Sample call">
          <Snippets model={model} public_url={public_url} />
        </Card>
      </div>
    </div>
  );
}

function Id({ id }: { id: string }): JSX.Element {
  return (
    <div>
      <h3>Model ID</h3>
      <div class="row">
        <code>{id}</code>
        <CopyButton text={id} label={`Copy ${id}`} />
      </div>
    </div>
  );
}

function Facts(props: { title: string; facts: readonly [string, string][] }): JSX.Element | null {
  if (props.facts.length === 0) return null;
  return (
    <div>
      <h3>{props.title}</h3>
      <dl class="facts">
        {props.facts.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
    </div>
  );
}

function Upstreams({ model }: { model: Model }): JSX.Element {
  return (
    <Card title="Upstreams" about="In the order in which they are tried; operators see this.">
      <ol>
        {model.upstreams.map(({ provider, model: name, weight }) => (
          <li>
            <strong>{provider.name}</strong> <code>{name}</code>
            {weight !== undefined && <span class="hint"> weight {weight}</span>}
          </li>
        ))}
      </ol>
      {model.fallback && <p class="soft">After these have failed: {model.fallback.join(', ')}.</p>}
    </Card>
  );
}

/** Tabs made of radio buttons, which need no script. */
function Snippets({ model, public_url }: { model: Model; public_url: string }): JSX.Element {
  return (
    <fieldset class="stack tabs">
      <legend class="unseen">Example of a call to {model.id}</legend>
      <div class="segments">
        {LANGUAGES.map((language, at) => (
          <label>
            <input type="radio" name="tab" value={language} checked={at === 0} />
            {LANGUAGE_NAMES[language]}
          </label>
        ))}
      </div>
      {LANGUAGES.map((language) => (
        <div class={`tab ${language}`}>
          <Code
            label={`${LANGUAGE_NAMES[language]} for ${model.id}`}
            text={snippet(language, model, public_url)}
          />
        </div>
      ))}
    </fieldset>
  );
}
