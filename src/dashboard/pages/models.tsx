import type { JSX } from 'preact';
import type { Configuration } from '../../core/configuration.js';
import type { DashboardServices, Route } from '../types.js';
import { sendPage } from './page.js';
import { Badge, Card, Code, CopyButton, Empty } from './parts.js';
import { limitsOf, pricesOf, priceInShort } from './prices.js';
import { LANGUAGES, snippet, type Language } from './snippet.js';
import type { Model } from '../../core/model.js';

const NAMES: Record<Language, string> = { curl: 'curl', python: 'Python', node: 'Node' };

/** The page of models with their prices and sample calls. */
export function modelsRoute({ configuration }: DashboardServices): Route {
  const models = [...configuration.models.values()];
  return {
    method: 'GET',
    path: '/models',
    who: 'visitor',
    answer: (ctx, visitor) => {
      sendPage(ctx, visitor, {
        title: 'Models',
        about: (
          <>
            One address for all of them: <code>{configuration.public_url}/v1</code>
          </>
        ),
        body:
          models.length > 0 ? (
            <div class="stack models">
              {models.map((model, at) => (
                <ModelEntry model={model} at={at} configuration={configuration} />
              ))}
            </div>
          ) : (
            <Card>
              <Empty title="No model yet">
                <p>
                  Declare one under <code>models:</code> in gateway.yaml; it appears here as soon as
                  the file is saved.
                </p>
              </Empty>
            </Card>
          ),
      });
    },
  };
}

function ModelEntry(props: {
  model: Model;
  at: number;
  configuration: Configuration;
}): JSX.Element {
  const { model, at, configuration } = props;
  const owner = configuration.owners.get(model.owner)?.name ?? model.owner;
  return (
    <details class="card model" open={at === 0}>
      <summary>
        <span class="title">
          <strong>{model.id}</strong>
          <span class="faint small">{owner}</span>
        </span>
        <span class="row tags">
          {[...model.capabilities].map((name) => (
            <Badge>{name}</Badge>
          ))}
        </span>
        <span class="price soft">{priceInShort(model)}</span>
      </summary>
      <div class="inside">
        <div class="stack">
          <Id id={model.id} />
          <Facts title="Price" facts={pricesOf(model)} />
          <Facts title="Limits" facts={limitsOf(model)} />
        </div>
        <Snippets model={model} at={at} public_url={configuration.public_url} />
      </div>
    </details>
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
            <dd class="figure">{value}</dd>
          </>
        ))}
      </dl>
    </div>
  );
}

/** Tabs made of radio buttons, which need no script. */
function Snippets(props: { model: Model; at: number; public_url: string }): JSX.Element {
  const { model, at, public_url } = props;
  return (
    <fieldset class="tabs">
      <legend class="unseen">Example of a call to {model.id}</legend>
      <div class="segments">
        {LANGUAGES.map((language, first) => (
          <label>
            <input type="radio" name={`tab-${at}`} value={language} checked={first === 0} />
            {NAMES[language]}
          </label>
        ))}
      </div>
      {LANGUAGES.map((language) => (
        <div class={`tab ${language}`}>
          <Code
            label={`${NAMES[language]} for ${model.id}`}
            text={snippet(language, model, public_url)}
          />
        </div>
      ))}
    </fieldset>
  );
}
