import type { Capability, Model } from '../../core/model.js';
import type { Configuration } from '../../core/configuration.js';

const MAX_CHARACTERS = 100;

/** The filter of the page of models. */
export interface ModelsQuery {
  /** The search words, in lower case. A model matches if its ID or owner has all of them. */
  q: string;
  can: string;
  owner: string;
  /** The number of matching models on the pages before. */
  from: number;
}

/** A model with the texts that the page shows and searches. */
export interface ListedModel {
  model: Model;
  owner: string;
  text: string;
}

type Query = Readonly<Record<string, string | string[] | undefined>>;

/** Reads the filter. A parameter that is given twice counts as absent. */
export function readModelsQuery(query: Query): ModelsQuery {
  const word = (name: string): string => {
    const value = query[name];
    return typeof value === 'string' ? value.slice(0, MAX_CHARACTERS) : '';
  };
  const from = Number(word('from'));
  const isCount = Number.isSafeInteger(from) && from > 0;
  return {
    q: word('q').trim().toLowerCase(),
    can: word('can'),
    owner: word('owner'),
    from: isCount ? from : 0,
  };
}

/** All models in the order of the file. */
export function listedModels({ models, owners }: Configuration): ListedModel[] {
  return [...models.values()].map((model) => {
    const owner = owners.get(model.owner)?.name ?? model.owner;
    return { model, owner, text: `${model.id} ${owner}`.toLowerCase() };
  });
}

/** The models that the filter lets through. */
export function matching(all: readonly ListedModel[], query: ModelsQuery): ListedModel[] {
  const { can, owner } = query;
  const words = query.q.split(/\s+/u).filter(Boolean);
  return all.filter(
    ({ model, text }) =>
      (can === '' || model.capabilities.has(can as Capability)) &&
      (owner === '' || model.owner === owner) &&
      words.every((word) => text.includes(word)),
  );
}

/** The address of the page with this filter. */
export function modelsPath(query: ModelsQuery): string {
  const given = Object.entries(query).filter(([, value]) => value !== '' && value !== 0);
  const words = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return words.size === 0 ? '/models' : `/models?${words.toString()}`;
}

/** The address of a model's own page. Its ID may hold slashes. */
export function modelPath(id: string): string {
  return `/models/${id.split('/').map(encodeURIComponent).join('/')}`;
}
