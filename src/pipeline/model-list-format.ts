import { publicName, type Model } from '../core/model.js';

/** How models are listed to the clients of a format. */
export interface ModelListFormat {
  /** Headers that only its clients send, in lower case. They identify the format. */
  readonly known_by: readonly string[];
  /** Set if its lists have the names of models that `as` gives them for such clients. */
  readonly has_as_names?: true;
  /** The name of the schema of a list, `schemas/NAME.schema.json`; its `$defs` have `model`. */
  readonly schema: string;
  one(model: Model): object;
  list(models: readonly Model[]): object;
}

/** The shape of the contract (specification 2.11), which is OpenAI's. */
export const contractModels: ModelListFormat = {
  known_by: [],
  schema: 'model-list',
  one: entryOf,
  list: (models) => ({ object: 'list', data: models.map(entryOf) }),
};

function entryOf(model: Model): object {
  const { created, owner } = model;
  return { id: publicName(model), object: 'model', created, owned_by: owner };
}
