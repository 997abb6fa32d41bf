import type { UpstreamEntry } from '../schema-types/gateway.js';
import type { Manifest, ReadProvider } from './adapter.js';
import { checkRetry, providerWithTerms, readCallTerms, type CallTerms } from './call-terms.js';
import { checkChanges } from './fields.js';
import { memoizeByObject } from '../lib/objects.js';
import { nameHint, nearestWord } from '../yaml/did-you-mean.js';
import type { ListPrice, ListPrices } from './list-prices.js';
import type { CheckedUpstream } from '../pipeline/model-check.js';
import type { Modalities } from '../pipeline/modality.js';
import { isListTerms, priceAt, readPriceTerms, type PriceTerms } from './price-terms.js';
import { checkModel } from './upstream-model.js';
import { flow } from '../yaml/schema-walk.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';
import { hasOwnAddress } from '../pipeline/model-check.js';
import type { ModelFacts } from '../schema-types/prices.js';
import type { Price, Upstream } from '../core/model.js';
import type { Provider } from '../core/provider.js';

/** The names of providers and owners that other entries may refer to. */
export interface Known {
  /** All names, also of entries with faults; undefined if the block is not a block. */
  owners: readonly string[] | undefined;
  provider_names: readonly string[] | undefined;
  providers: ReadonlyMap<string, ReadProvider>;
  modalities: Modalities;
  prices: ListPrices;
  /** Output tokens for clients that name no limit, of models that do not say themselves. */
  default_max_tokens: number | undefined;
}

/** An upstream of a model, with all that the checks of this folder need beside it. */
export interface ReadUpstream extends CheckedUpstream {
  listed: ListPrice | undefined;
  /** What is known of the model; undefined at an address of the operator's own too. */
  facts: ModelFacts | undefined;
  read: ReadProvider;
}

/** The upstreams of a model. Each one with an unknown provider is a fault. */
export function readUpstreams(
  source: Source,
  pointer: string,
  model: PricedModel & { entries: readonly (PartialLoad<UpstreamEntry> | undefined)[] },
  known: Known,
): ReadUpstream[] {
  const seen = new Map<string, number>();
  return model.entries.flatMap((entry, i) => {
    const place = pointer + join(i);
    if (entry?.provider === undefined) return [];
    // A faulty model name could be any name; a missing one is the public ID.
    const known_model = entry.model !== undefined || !source.has(`${place}/model`);
    const target = JSON.stringify([entry.provider, entry.model ?? model.id]);
    const first = seen.get(target);
    if (first !== undefined && known_model) reportUnreachable(source, place, first);
    if (first === undefined && known_model) seen.set(target, i);
    const read = findProvider(
      source,
      place,
      { provider: entry.provider, model: entry.model },
      known,
    );
    return read ? [readUpstream(source, place, model, entry, read, known)] : [];
  });
}

interface PricedModel {
  id: string;
  /** The place of its price. */
  price_at: string;
  /** Undefined where each upstream has a price of its own, or its provider's. */
  price: PriceTerms | undefined;
  /** What the model says of its calls. */
  terms: CallTerms;
  /** The fields that the model itself passes through. */
  passthrough: readonly (string | undefined)[];
}

function reportUnreachable(source: Source, pointer: string, first: number): void {
  const provider = source.word(`${pointer}/provider`);
  const model = `${pointer}/model`;
  const target = source.has(model) ? `${source.word(model)} of ${provider}` : provider;
  source.fault(pointer, {
    code: 'unreachable_fallback',
    message: `${target} is tried already by upstreams[${first}], so this entry is never used`,
    hint: 'remove it, or name another provider or model',
  });
}

function findProvider(
  source: Source,
  place: string,
  { provider: name, model }: { provider: string; model: string | undefined },
  { providers, provider_names: names }: Known,
): ReadProvider | undefined {
  const pointer = `${place}/provider`;
  if (names && !names.includes(name)) {
    const message = `no provider is called ${source.word(pointer)}`;
    if (model !== undefined && names.includes(model) && !source.hides(pointer)) {
      const hint = `swap the two: write provider: ${flow(model)}, model: ${flow(name)}`;
      source.fault(pointer, { code: 'unknown_provider', message, hint });
      return undefined;
    }
    const near = nameHint(name, names);
    const isRenamed = names.some(
      (one) => !providers.has(one) && near === `did you mean ${quote(one)}?`,
    );
    const isNested = names.some((one) => source.has(`/providers${join(one, name)}`));
    // The entry is reported already, for its name or its place.
    if (isRenamed || isNested) return undefined;
    const isModel = source.keys('/models')?.includes(name) === true;
    const add = `${near}; or add it under providers: ${flow(name)}: { api_key: '\${KEY}' }`;
    const isPlain = nearestWord(name, names) !== undefined || source.hides(pointer) || isModel;
    const hint = isPlain ? near : add;
    source.fault(pointer, { code: 'unknown_provider', message, hint });
  }
  return providers.get(name);
}

function readUpstream(
  source: Source,
  pointer: string,
  model: PricedModel,
  entry: PartialLoad<UpstreamEntry>,
  read: ReadProvider,
  { modalities, prices }: Known,
): ReadUpstream {
  const { manifest } = read;
  const provider = providerOfEntry(source, pointer, model, entry, read);
  const own = { set: entry.set ?? {}, drop: entry.drop ?? [], rename: entry.rename ?? {} };
  const passthrough = [manifest.data.passthrough ?? [], model.passthrough];
  checkChanges(source, pointer, own, modalities, passthrough);
  const target = { provider, model: entry.model ?? model.id };
  const listed = prices.find(target, modalities);
  const { paid, price_at } = paidBy(source, pointer, model, entry, read, modalities);
  const isShared = price_at.startsWith('/providers/');
  const place = isShared ? pointer : price_at;
  const asked = { source, pointer, price_at: place, id: model.id, entry, read, prices, modalities };
  checkModel(asked, isListTerms(paid), listed);
  const shared = changesOf(manifest);
  const upstream: Upstream = {
    provider,
    model: target.model,
    weight: entry.weight,
    set: entry.set ? { ...entry.set } : {},
    drop: entry.drop ? [...new Set([...shared.drop, ...entry.drop.filter(isText)])] : shared.drop,
    rename: entry.rename ? texts({ ...shared.rename, ...entry.rename }) : shared.rename,
    price: priceAt(paid, listed?.price, read.discount) ?? NO_PRICE,
  };
  const facts = hasOwnAddress(source, provider.name) ? undefined : prices.factsOf(target);
  return { pointer, upstream, price_at, listed, facts, read };
}

/** The price of an upstream: its own, else the model's, else that of its provider. */
function paidBy(
  source: Source,
  pointer: string,
  model: PricedModel,
  { price }: PartialLoad<UpstreamEntry>,
  { provider, price: shared = NO_PRICE }: ReadProvider,
  modalities: Modalities,
): { paid: PriceTerms; price_at: string } {
  const own_at = `${pointer}/price`;
  if (price !== undefined) {
    return { paid: readPriceTerms(source, own_at, price, modalities), price_at: own_at };
  }
  if (model.price) return { paid: model.price, price_at: model.price_at };
  return { paid: shared, price_at: `/providers${join(provider.name)}/price` };
}

/** The provider with what the entry says of its calls, else what the model says. */
function providerOfEntry(
  source: Source,
  pointer: string,
  model: PricedModel,
  entry: PartialLoad<UpstreamEntry>,
  { provider }: ReadProvider,
): Provider {
  const own = readCallTerms(source, pointer, entry);
  const { retries, retry_at } = own.retries === undefined ? model.terms : own;
  const timeouts = { ...model.terms.timeouts, ...own.timeouts };
  const terms = { timeouts, ...(retries !== undefined && { retries }), retry_at };
  checkRetry(source, provider, terms);
  return providerWithTerms(provider, terms);
}

/** The changes of a manifest, which its upstreams share unless they have changes of their own. */
const changesOf = memoizeByObject(({ data }: Manifest) => ({
  drop: [...new Set((data.drop ?? []).filter(isText))],
  rename: texts(data.rename ?? {}),
}));

/** Replaces a missing price, which is a fault. */
const NO_PRICE: Price = {
  free: false,
  input_nano_per_million: 0n,
  output_nano_per_million: 0n,
};

function isText(value: string | undefined): value is string {
  return value !== undefined;
}

function texts(map: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(map).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}
