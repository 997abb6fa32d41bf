import type { Capability } from '../core/model.js';
import { bareName, placeOf, type CheckedModel } from '../pipeline/model-check.js';
import type { Modalities } from '../pipeline/modality.js';
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

/** The work of models that are priced by tokens: with a list price for output it is chat. */
function listedWork(has_output: boolean): Capability {
  return has_output ? 'chat' : 'embedding';
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
    const [own, other] = [listedWork(has_output), listedWork(!has_output)];
    if (!capabilities.has(other)) continue;
    // A provider that does no such work has an error of its own.
    if (!Object.hasOwn(read.manifest.data.operations ?? {}, other)) continue;
    const output = `${price_at}/output_per_million`;
    const further = !has_output && source.has(output) ? ', and remove output_per_million' : '';
    const does = modalities.get(own)?.does ?? own;
    source.fault(placeOf(model, other), {
      code: 'other_work',
      message: `capabilities: ${quote(listed.model)} ${does}, so ${other} fails`,
      hint: `write capabilities: [${own}]${further}`,
      severity: 'warning',
    });
    return;
  }
}
