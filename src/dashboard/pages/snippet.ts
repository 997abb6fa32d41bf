import type { Model } from '../../core/model.js';
import { MODALITIES } from '../../modalities/index.js';
import type { Modality } from '../../pipeline/modality.js';
import { codeOf, type Language } from './call-code.js';

/** The modality whose sample call a model shows. */
export function modalityOf({ id, capabilities }: Model): Modality {
  const found = [...MODALITIES.values()].find(({ name }) => capabilities.has(name));
  if (!found) throw new Error(`${id} has no capability that it can be called for.`);
  return found;
}

/** A sample call that works once `TOLLGATE_API_KEY` is set. */
export function snippet(language: Language, model: Model, public_url: string): string {
  return codeOf(language, modalityOf(model).documentation.sampleCall(model.id), public_url);
}
