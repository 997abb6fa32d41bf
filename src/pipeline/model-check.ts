import type { Capability, Price, Upstream } from '../core/model.js';
import type { ModelEntry } from '../schema-types/gateway.js';
import type { ProviderManifest } from '../schema-types/provider.js';
import { pointer as join, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';

/** An upstream of a model in gateway.yaml, with its place in the file. */
export interface CheckedUpstream {
  pointer: string;
  upstream: Upstream;
  /** The place of the price that it pays: its own, or that of its model. */
  price_at: string;
  /** The list price of its model, whether it pays that or not. */
  listed: { model: string; price: Price; units: readonly string[] } | undefined;
  read: { manifest: { data: PartialLoad<ProviderManifest> } };
}

/** A model of gateway.yaml as far as it could be read. `pointer` is its place in `source`. */
export interface CheckedModel {
  source: Source;
  pointer: string;
  capabilities: ReadonlySet<Capability>;
  limits: PartialLoad<NonNullable<ModelEntry['limits']>>;
  upstreams: readonly CheckedUpstream[];
}

/** The place of a capability of the model. */
export function placeOf({ pointer, capabilities }: CheckedModel, capability: Capability): string {
  return `${pointer}/capabilities${join([...capabilities].indexOf(capability))}`;
}

/** The upstreams of the model, those that pay one price together. */
export function payersOf<One extends CheckedUpstream>({
  upstreams,
}: {
  upstreams: readonly One[];
}): One[][] {
  const places = [...new Set(upstreams.map(({ price_at }) => price_at))];
  return places.map((place) => upstreams.filter(({ price_at }) => price_at === place));
}

/** The ID of a model without its vendor and its date. */
export function bareName(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .replace(/-20\d{2}-?\d{2}-?\d{2}$/, '')
    .toLowerCase();
}

/** Whether a provider has an address of the operator's own: what is served there is not known. */
export function hasOwnAddress(source: Source, name: string): boolean {
  return source.has(`/providers${join(name)}/base_url`);
}
