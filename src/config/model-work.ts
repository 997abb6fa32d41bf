import { bareName, placeOf, type CheckedModel } from '../pipeline/model-check.js';
import type { Modalities, Modality } from '../pipeline/modality.js';
import { quote } from '../yaml/source.js';

/** Warns of a model for another kind of work by its name, where no list price tells. */
export function checkNamedWork(model: CheckedModel, modalities: Modalities): void {
  const { source, capabilities, upstreams } = model;
  const [first] = capabilities;
  if (first === undefined) return;
  for (const { upstream, listed } of upstreams) {
    if (listed) continue;
    const name = bareName(upstream.model);
    const own = [...modalities.values()].find(({ model_names }) => model_names?.test(name));
    if (!own || capabilities.has(own.name)) continue;
    source.fault(placeOf(model, first), {
      code: 'other_work',
      message: `capabilities: ${quote(upstream.model)} ${own.does}, so ${first} fails`,
      hint: `write capabilities: [${own.name}]`,
      severity: 'warning',
    });
    return;
  }
}

/**
 * The work of models whose list price is by tokens: chat if output has a price, else embeddings.
 * They are the first kinds of work with such prices.
 */
export function listedWork(has_output: boolean, modalities: Modalities): Modality | undefined {
  return [...modalities.values()].find(
    ({ units }) =>
      Object.hasOwn(units, 'input_per_million') &&
      Object.hasOwn(units, 'output_per_million') === has_output,
  );
}

/** Warns of a model for chat that is offered for embeddings, and of the reverse. */
export function checkWork(model: CheckedModel, modalities: Modalities): void {
  const { source, capabilities, upstreams } = model;
  for (const { listed, price_at, read } of upstreams) {
    if (!listed?.units.includes('input_per_million')) continue;
    const has_output = listed.units.includes('output_per_million');
    // A price without that of output has a fault of its own.
    const isGiven =
      source.text(price_at) === 'free' || source.has(`${price_at}/output_per_million`);
    if (!has_output && !isGiven) continue;
    const own = listedWork(has_output, modalities);
    const other = listedWork(!has_output, modalities)?.name;
    if (!own || other === undefined || !capabilities.has(other)) continue;
    // A provider that does no such work has an error of its own.
    if (!Object.hasOwn(read.manifest.data.operations ?? {}, other)) continue;
    const output = `${price_at}/output_per_million`;
    const further = !has_output && source.has(output) ? ', and remove output_per_million' : '';
    source.fault(placeOf(model, other), {
      code: 'other_work',
      message: `capabilities: ${quote(listed.model)} ${own.does}, so ${other} fails`,
      hint: `write capabilities: [${own.name}]${further}`,
      severity: 'warning',
    });
    return;
  }
}
