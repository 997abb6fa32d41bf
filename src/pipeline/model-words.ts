import type { Model } from '../core/model.js';

/** How the clients of a format see models. */
export interface ModelWords {
  /** Headers that its clients alone send, in lower case: they are known by them. */
  readonly known_by: readonly string[];
  /** `schemas/NAME.schema.json` says what a list is, and in its `$defs` what a `model` is. */
  readonly schema: string;
  one(model: Model): object;
  list(models: readonly Model[]): object;
}

/** The words of the contract (specification 2.11), which are OpenAI's own. */
export const contractModels: ModelWords = {
  known_by: [],
  schema: 'model-list',
  one: entryOf,
  list: (models) => ({ object: 'list', data: models.map(entryOf) }),
};

function entryOf({ id, created, owner }: Model): object {
  return { id, object: 'model', created, owned_by: owner };
}
