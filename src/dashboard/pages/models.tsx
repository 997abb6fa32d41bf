import type { JSX } from 'preact';
import { CAPABILITIES } from '../../core/model.js';
import { listModels, matchingModels, type ListedModel } from '../../actions/model-list.js';
import { actionCaller } from '../action-context.js';
import { sendListCsv, wantsCsv } from '../csv-answer.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../types.js';
import { Field, FilterChoice, namedOptions } from './fields.js';
import { addressOf, ListPage, readListRows } from './list-page.js';
import { readModelsQuery, type ModelsQuery } from './models-query.js';
import { sendPage } from './page.js';
import { Badge, Empty, NoModelYet } from './parts.js';
import { priceInShort } from './prices.js';
import type { Column } from './table.js';
import { pluralize, formatCount } from './formatting.js';

const PATH = '/models';

/** The page that lists the models with their prices, to search and to filter. */
export function modelsRoute(services: DashboardServices): Route {
  const { public_url } = services.configuration;
  return {
    method: 'GET',
    path: PATH,
    access: 'session',
    async answer(ctx, visitor) {
      const query = readModelsQuery(ctx.query);
      if (wantsCsv(ctx)) {
        return sendListCsv(listModels, query, actionCaller(ctx, visitor), ctx, services);
      }
      sendPage(ctx, visitor, {
        title: 'Models',
        about: (
          <>
            One address for all of them: <code>{public_url}/v1</code>
          </>
        ),
        body: await modelsBody(query, ctx, visitor, services),
      });
    },
  };
}

async function modelsBody(
  query: ModelsQuery,
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
): Promise<JSX.Element> {
  const all = matchingModels(services.configuration, {});
  if (all.length === 0) return <NoModelYet />;
  const found = matchingModels(services.configuration, query);
  const caller = actionCaller(ctx, visitor);
  return (
    <>
      <Filter all={all} query={query} />
      <ListPage
        {...await readListRows(listModels, query, caller, ctx, services)}
        title={pluralize(found.length, 'model')}
        label="Models"
        columns={COLUMNS}
        empty={<NoneFound />}
        pathTo={(words) => addressOf(PATH, { ...query, ...words })}
      />
    </>
  );
}

function NoneFound(): JSX.Element {
  return (
    <Empty title="No such model" link={{ href: PATH, text: 'See all models' }}>
      <p>No model fits the search and the filters.</p>
    </Empty>
  );
}

function Filter(props: { all: readonly ListedModel[]; query: ModelsQuery }): JSX.Element {
  const { all, query } = props;
  const owners = new Map(all.map(({ model, owner }) => [model.owner, owner]));
  const known = CAPABILITIES.filter((name) =>
    all.some(({ model }) => model.capabilities.has(name)),
  );
  return (
    <form class="filters" method="get" action={PATH} role="search">
      <Field
        label="Search"
        name="q"
        input={{ type: 'search', value: query.q, maxLength: 100, placeholder: 'ID or owner' }}
      />
      <FilterChoice label="Capability" name="can" value={query.can} options={namedOptions(known)} />
      <FilterChoice
        label="Owner"
        name="owner"
        value={query.owner}
        options={[...owners].map(([value, name]) => ({ value, name }))}
      />
      <button>Apply</button>
    </form>
  );
}

const COLUMNS: Column<ListedModel>[] = [
  {
    head: 'Model',
    class: 'lead',
    cell: ({ model: { id, description }, owner }) => (
      <>
        <a href={modelPath(id)}>
          <strong>{id}</strong>
        </a>
        <div class="hint">{owner}</div>
        {description !== undefined && <div class="hint">{description}</div>}
      </>
    ),
  },
  {
    head: 'Capabilities',
    class: 'wide',
    cell: ({ model }) => (
      <span class="row">
        {[...model.capabilities].map((name) => (
          <Badge>{name}</Badge>
        ))}
      </span>
    ),
  },
  {
    head: 'Context',
    class: 'number soft',
    label: 'Context',
    cell: ({ model: { limits } }) => limits.context !== undefined && formatCount(limits.context),
  },
  { head: 'Price', class: 'number soft', cell: ({ model }) => priceInShort(model) },
];

/** The address of a model's own page. Its ID may hold slashes. */
function modelPath(id: string): string {
  return `${PATH}/${id.split('/').map(encodeURIComponent).join('/')}`;
}
