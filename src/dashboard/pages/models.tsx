import type { JSX } from 'preact';
import { CAPABILITIES } from '../../core/model.js';
import type { DashboardServices, Route } from '../types.js';
import { Choice, Field, filterOptions, namedOptions } from './fields.js';
import { sendPage } from './page.js';
import { Badge, Card, Empty } from './parts.js';
import { priceInShort } from './prices.js';
import {
  listedModels,
  matching,
  modelPath,
  modelsPath,
  readModelsQuery,
  type ListedModel,
  type ModelsQuery,
} from './models-query.js';
import { pluralize, formatCount } from './formatting.js';

const PAGE = 50;

/** The page that lists the models with their prices, to search and to filter. */
export function modelsRoute({ configuration }: DashboardServices): Route {
  const all = listedModels(configuration);
  return {
    method: 'GET',
    path: '/models',
    access: 'session',
    answer: (ctx, visitor) => {
      const query = readModelsQuery(ctx.query);
      sendPage(ctx, visitor, {
        title: 'Models',
        about: (
          <>
            One address for all of them: <code>{configuration.public_url}/v1</code>
          </>
        ),
        body: all.length > 0 ? <Models all={all} query={query} /> : <NoModel />,
      });
    },
  };
}

function NoModel(): JSX.Element {
  return (
    <Card>
      <Empty title="No model yet">
        <p>
          Declare one under <code>models:</code> in gateway.yaml; it appears here as soon as the
          file is saved.
        </p>
      </Empty>
    </Card>
  );
}

interface Listing {
  all: readonly ListedModel[];
  query: ModelsQuery;
}

function Models({ all, query }: Listing): JSX.Element {
  const found = matching(all, query);
  const shown = found.slice(query.from, query.from + PAGE);
  const next = query.from + PAGE;
  const before = Math.max(0, query.from - PAGE);
  return (
    <>
      <Filter all={all} query={query} />
      <Card
        title={pluralize(found.length, 'model')}
        about={
          found.length > PAGE &&
          shown.length > 0 &&
          `${formatCount(query.from + 1)} to ${formatCount(query.from + shown.length)}`
        }
        flush
      >
        {shown.length > 0 ? <ModelTable models={shown} /> : <NoneFound />}
      </Card>
      {found.length > PAGE && (
        <div class="row">
          {query.from > 0 && (
            <a class="button" href={modelsPath({ ...query, from: before })}>
              Previous page
            </a>
          )}
          {next < found.length && (
            <a class="button" href={modelsPath({ ...query, from: next })}>
              Next page
            </a>
          )}
        </div>
      )}
    </>
  );
}

function NoneFound(): JSX.Element {
  return (
    <Empty title="No such model">
      <p>No model fits the search and the filters.</p>
      <a class="button" href="/models">
        See all models
      </a>
    </Empty>
  );
}

function Filter({ all, query }: Listing): JSX.Element {
  const owners = new Map(all.map(({ model, owner }) => [model.owner, owner]));
  const known = CAPABILITIES.filter((name) =>
    all.some(({ model }) => model.capabilities.has(name)),
  );
  return (
    <form class="filters" method="get" action="/models" role="search">
      <Field
        label="Search"
        name="q"
        input={{ type: 'search', value: query.q, maxLength: 100, placeholder: 'ID or owner' }}
      />
      <Choice
        label="Capability"
        name="can"
        value={query.can}
        options={filterOptions(namedOptions(known), query.can)}
      />
      <Choice
        label="Owner"
        name="owner"
        value={query.owner}
        options={filterOptions(
          [...owners].map(([value, name]) => ({ value, name })),
          query.owner,
        )}
      />
      <button>Apply</button>
    </form>
  );
}

function ModelTable({ models }: { models: readonly ListedModel[] }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Models">
      <table class="fold">
        <thead>
          <tr>
            <th>Model</th>
            <th>Capabilities</th>
            <th class="number">Context</th>
            <th class="number">Price</th>
          </tr>
        </thead>
        <tbody>
          {models.map(({ model, owner }) => (
            <tr>
              <td class="lead">
                <a class="model-id" href={modelPath(model.id)}>
                  <strong>{model.id}</strong>
                </a>
                <div class="hint">{owner}</div>
              </td>
              <td>
                <span class="row tags">
                  {[...model.capabilities].map((name) => (
                    <Badge>{name}</Badge>
                  ))}
                </span>
              </td>
              <td class="number soft" data-label="Context">
                {model.limits.context !== undefined && formatCount(model.limits.context)}
              </td>
              <td class="number soft price">{priceInShort(model)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
