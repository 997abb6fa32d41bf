import { memoizeByObject } from '../lib/objects.js';
import type { Modalities, Modality } from '../pipeline/modality.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { Manifest } from './adapter.js';
import type { ReadUpstream } from './upstreams.js';
import type { Capability } from '../core/model.js';

/** Checks that every upstream serves every capability, since any of them may have to answer. */
export function checkCapabilities(
  source: Source,
  pointer: string,
  capabilities: readonly (Capability | undefined)[],
  upstreams: readonly ReadUpstream[],
  modalities: Modalities,
): void {
  const complete = !capabilities.includes(undefined);
  const reported = new Set<Modality>();
  const of = (capability: Capability) => byCapability(modalities).get(capability);
  capabilities.forEach((capability, i) => {
    if (capability === undefined) return;
    const place = `${pointer}/capabilities${join(i)}`;
    const modality = of(capability);
    if (!modality) throw new Error(`No modality has the capability ${capability}.`);
    if (modality.name !== capability && complete && !capabilities.includes(modality.name)) {
      const message = `the capability ${quote(capability)} is of no use without "${modality.name}"`;
      const code = `needs_${modality.name}`;
      if (reported.has(modality)) return;
      reported.add(modality);
      const all = [modality.name, ...capabilities.filter((one) => one !== undefined)];
      const isAlone = capabilities.every((one) => one && of(one) === modality);
      const hint = isAlone ? `write capabilities: [${all.join(', ')}]` : `add ${modality.name}`;
      source.fault(place, { code, message, hint });
      return;
    }
    if (reported.has(modality)) return;
    const unserved = upstreams.filter((one) => !canServe(one, modality));
    if (unserved.length > 0) reported.add(modality);
    const isAll = unserved.length === upstreams.length;
    const isOnly = capabilities.every((other) => other && of(other) === modality);
    const removal = isOnly ? '' : 'remove it, or ';
    const what = isAll ? removal : 'remove this upstream, or ';
    for (const one of unserved)
      reportUnserved(source, isAll ? place : one.pointer, { capability, what }, one);
  });
}

/** The modality whose name or refinement each capability is; of several, the first. */
const byCapability = memoizeByObject(
  (modalities: Modalities) =>
    new Map(
      [...modalities.values()]
        .toReversed()
        .flatMap((one) =>
          [one.name, ...one.configuration.refinements].map((capability) => [capability, one]),
        ),
    ),
);

/** Whether a manifest serves a modality, computed once: many models share few manifests. */
const isServed = memoizeByObject(({ source }: Manifest) =>
  memoizeByObject(({ configuration: { manifest } }: Modality) =>
    manifest.served_by.some((list) =>
      list.every((operation) => source.has(`/operations${join(operation)}`)),
    ),
  ),
);

/** A manifest with faults in its operations does not show which operations the provider has. */
function canServe({ read: { manifest } }: ReadUpstream, modality: Modality): boolean {
  const known = Object.keys(manifest.data.operations ?? {});
  return known.length === 0 || isServed(manifest)(modality);
}

/** The place is the capability if no upstream serves it, else the upstream that does not. */
function reportUnserved(
  source: Source,
  place: string,
  { capability, what }: { capability: Capability; what: string },
  { pointer, read: { manifest, provider } }: ReadUpstream,
): void {
  const served = Object.keys(manifest.data.operations ?? {}).join(', ');
  const name = quote(provider.name);
  const message = `the provider ${name} cannot serve the capability ${quote(capability)}`;
  const meant =
    capability === 'image' && place !== pointer ? 'write vision if it sees images; else ' : '';
  const hint = `${meant}${what}name another provider: its manifest has ${served}`;
  source.fault(place, { code: 'unsupported_capability', message, hint });
}
