import { modelNotFound } from '../core/errors.js';
import { publicName } from '../core/model.js';
import type { Modalities } from '../pipeline/modality.js';
import type { Stage } from '../pipeline/stage.js';
import { modelStage } from './models.js';

/** Answers with the model that the path names. A model that the key may not use is 404. */
export function model(modalities: Modalities): Stage {
  return modelStage('model', modalities, (words, seen, { model: id = '' }) => {
    const found = seen.find((one) => publicName(one) === id);
    if (found) return words.one(found);
    throw modelNotFound(id, 404);
  });
}
