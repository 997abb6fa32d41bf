import type { Modalities, Modality } from '../pipeline/modality.js';

/**
 * The work of models whose list price is by tokens: chat if output has a price, else embeddings.
 * They are the first kinds of work with such prices.
 */
export function listedWork(has_output: boolean, modalities: Modalities): Modality | undefined {
  return [...modalities.values()].find(
    ({ configuration: { units } }) =>
      Object.hasOwn(units, 'input_per_million') &&
      Object.hasOwn(units, 'output_per_million') === has_output,
  );
}
