import type { ModelFilter } from '../../actions/model-list.js';

const MAX_CHARACTERS = 100;

/** The filter of the page of models, empty where the address has none. */
export type ModelsQuery = Required<ModelFilter>;

type Query = Readonly<Record<string, string | string[] | undefined>>;

/** Reads the filter. A parameter that is given twice counts as absent. */
export function readModelsQuery(query: Query): ModelsQuery {
  const word = (name: string): string => {
    const value = query[name];
    return typeof value === 'string' ? value.slice(0, MAX_CHARACTERS) : '';
  };
  return { q: word('q').trim().toLowerCase(), can: word('can'), owner: word('owner') };
}
