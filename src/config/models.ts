import type { ModelEntry, PriceEntry } from '../schema-types/gateway.js';
import type { Manifest } from './adapter.js';
import { readCallTerms } from './call-terms.js';
import { checkCapabilities } from './capabilities.js';
import { checkDefaults, checkSet, defaultsByWork } from './default-fields.js';
import { checkPassthrough } from './fields.js';
import { memoizeByObject } from '../lib/objects.js';
import { isBeside } from '../yaml/misplaced.js';
import { nameHint, nearestWord } from '../yaml/did-you-mean.js';
import { checkLimits } from './limit-checks.js';
import { listedWork } from './model-work.js';
import type { CheckedModel } from '../pipeline/model-check.js';
import { isListPrice, isListTerms, readPriceTerms, type PriceTerms } from './price-terms.js';
import { checkListUnits, checkUnits, examplePrice } from './prices.js';
import { isMisspelt } from '../yaml/misspelt.js';
import { flow } from '../yaml/schema-walk.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { readRates } from './rates.js';
import { readToolTypes } from './tool-types.js';
import { readUpstreams, type Known, type ReadUpstream } from './upstreams.js';
import type { PartialLoad } from '../yaml/validate.js';
import type { Capability, Model, Price, Upstream, VideoLimits } from '../core/model.js';

type Entry = PartialLoad<ModelEntry>;

const FREE: Price = { free: true, input_nano_per_million: 0n, output_nano_per_million: 0n };

/**
 * When a model was made whose entry has no day: the same in every process and after every reload.
 */
const UNKNOWN_DAY = Date.UTC(2024, 0, 1) / 1000;

/** A model of gateway.yaml with its place, and its upstreams with theirs. */
export interface ReadModel extends CheckedModel {
  model: Model;
  upstreams: readonly ReadUpstream[];
}

/** The entries of `models`, joined with their providers. */
export function readModels(
  source: Source,
  entries: Readonly<Record<string, Entry | undefined>>,
  known: Known,
): ReadModel[] {
  return Object.entries(entries).flatMap(([id, entry]) =>
    entry ? [readModel(source, id, entry, known)] : [],
  );
}

function readModel(source: Source, id: string, entry: Entry, known: Known): ReadModel {
  const pointer = `/models${join(id)}`;
  const listed = entry.capabilities ?? [];
  const capabilities = new Set(listed.flatMap((one) => one ?? []));
  checkOwner(source, pointer, entry, known);
  const paid = readModelPrice(source, { pointer, id, entry, capabilities }, known);
  const price_at = `${pointer}/price`;
  const { passthrough: fields = [], upstreams: entries = [] } = entry;
  const terms = readCallTerms(source, pointer, entry);
  const priced = { id, price: paid, price_at, passthrough: fields, entries, terms };
  const upstreams = readUpstreams(source, `${pointer}/upstreams`, priced, known);
  checkCapabilities(source, pointer, listed, upstreams, known.modalities);
  checkPrices(source, pointer, entry, capabilities, upstreams, known);
  for (const { price_at, listed } of upstreams) {
    if (!listed || !isListPrice(source, price_at)) continue;
    checkListUnits(source, price_at, listed, capabilities, known.modalities);
  }
  const limits = entry.limits ?? {};
  const checked = { source, pointer, capabilities, limits, upstreams };
  checkLimits(checked);
  const renames = upstreams.map(({ upstream }) => upstream.rename);
  checkPassthrough(source, `${pointer}/passthrough`, fields, renames, known.modalities);
  const passthrough = passthroughOf(entry, upstreams);
  const sendable = { capabilities, passthrough, modalities: known.modalities };
  const defaultsOf = readDefaults(source, pointer, entry, sendable);
  for (const { pointer: at, upstream } of upstreams) {
    checkSet(source, `${at}/set`, upstream.set, sendable);
  }
  const tool_types = readToolTypes(source, `${pointer}/tool_types`, entry);
  const rates = readRates(entry.rates);
  const model: Model = {
    id,
    ...(entry.description !== undefined && { description: entry.description }),
    owner: entry.owner ?? '',
    created: readCreated(source, `${pointer}/created`, entry.created) ?? UNKNOWN_DAY,
    capabilities,
    upstreams: withoutForeign(entry, upstreams, passthrough).map((upstream, at) => {
      const own = defaultsOf(upstreams[at]?.pointer);
      return own ? { ...upstream, default: own } : upstream;
    }),
    limits: readLimits(entry, known),
    ...(entry.cache === 'auto' && { cache: entry.cache }),
    passthrough,
    ...(tool_types && { tool_types }),
    ...(rates && { rates }),
    price: !paid || isListTerms(paid) ? (upstreams[0]?.upstream.price ?? FREE) : paid,
  };
  return { ...checked, model };
}

/** Returns a function that gives the default fields of an upstream: its own over the model's. */
function readDefaults(
  source: Source,
  pointer: string,
  { default: shared = {}, upstreams = [] }: Entry,
  terms: Parameters<typeof defaultsByWork>[1],
): (upstream: string | undefined) => Upstream['default'] {
  checkDefaults(source, `${pointer}/default`, shared, terms);
  const common = defaultsByWork(shared, terms);
  const own = upstreams.flatMap((entry, at): [string, Upstream['default']][] => {
    if (!entry?.default) return [];
    const place = `${pointer}/upstreams/${at}`;
    checkPlace(source, `${place}/default`, terms.capabilities);
    checkDefaults(source, `${place}/default`, entry.default, terms);
    return [[place, defaultsByWork({ ...shared, ...entry.default }, terms)]];
  });
  const by_place = new Map(own);
  return (upstream = '') => (by_place.has(upstream) ? by_place.get(upstream) : common);
}

/** A task is made before its upstream is known. */
function checkPlace(source: Source, place: string, capabilities: ReadonlySet<Capability>): void {
  if (!capabilities.has('video')) return;
  const message = 'default: all upstreams of a model with video have the same';
  source.fault(place, { code: 'bad_default', message, hint: 'write it at the model', at: 'key' });
}

function checkOwner(source: Source, pointer: string, { owner }: Entry, known: Known): void {
  if (owner === undefined || !known.owners || known.owners.includes(owner)) return;
  const place = `${pointer}/owner`;
  const message = `no owner is called ${source.word(place)}`;
  const near = nameHint(owner, known.owners);
  const add = `${near}; or add it under owners: ${flow(owner)}: { name: ${flow(owner)} }`;
  const isNear = nearestWord(owner, known.owners) !== undefined;
  const hint = isNear || source.hides(place) ? near : add;
  source.fault(place, { code: 'unknown_owner', message, hint });
}

interface ModelToPrice {
  pointer: string;
  id: string;
  entry: Entry;
  capabilities: ReadonlySet<Capability>;
}

function readModelPrice(
  source: Source,
  { pointer, id, entry: { price, upstreams = [] }, capabilities }: ModelToPrice,
  { modalities, prices, providers }: Known,
): PriceTerms | undefined {
  if (price !== undefined) return readPriceTerms(source, `${pointer}/price`, price, modalities);
  const isPriced = upstreams.every((one) => {
    return one?.price !== undefined || providers.get(one?.provider ?? '')?.price;
  });
  if (isPriced && upstreams.length > 0 && !source.has(`${pointer}/price`)) return undefined;
  const isElsewhere = hasForeignPrice(source, pointer) || isBeside(source, pointer, 'price');
  if (!source.has(`${pointer}/price`) && !isElsewhere) {
    const message = `${quote(id)} has capabilities that cost money, but no price`;
    const listed = prices.writtenOf(upstreams[0]?.model ?? id);
    const amounts = listed ?? examplePrice(capabilities, modalities);
    const hint = `write price: list, price: free, or price: ${amounts}`;
    source.fault(pointer, { code: 'missing_price', message, hint, at: 'key' });
  }
  return FREE;
}

/** Whether a model has its price under other keys, each of which gets a fault as unknown. */
function hasForeignPrice(source: Source, pointer: string): boolean {
  const isPrice = /ratio|cost|_per_|^per_|^price$/i;
  const limits = source.keys(`${pointer}/limits`) ?? [];
  const keys = [...(source.keys(pointer) ?? []), ...limits];
  return isMisspelt(source, pointer, 'price') || keys.some((key) => isPrice.test(key));
}

/** Checks the units of prices against the capabilities, if all capabilities are known. */
function checkPrices(
  source: Source,
  pointer: string,
  { capabilities: listed = [], price, upstreams: entries = [] }: Entry,
  capabilities: ReadonlySet<Capability>,
  upstreams: readonly ReadUpstream[],
  known: Known,
): void {
  if (listed.length === 0 || listed.includes(undefined)) return;
  const check = (place: string, entry: PartialLoad<PriceEntry>): void => {
    const hintOf = (unit: string) => missingHint(unit, upstreams, known);
    checkUnits(source, place, entry, capabilities, known.modalities, hintOf);
  };
  if (price !== undefined) check(`${pointer}/price`, price);
  entries.forEach((entry, i) => {
    const own = entry?.price;
    if (own === undefined) return;
    check(`${pointer}/upstreams/${i}/price`, own);
  });
  if (price !== 'free') return;
  for (const { pointer: place, upstream } of upstreams) {
    if (upstream.price.free) continue;
    const message = 'an upstream of a free model cannot have a price of its own';
    const hint = 'give the model a price, or remove this one';
    source.fault(`${place}/price`, { code: 'price_of_free_model', message, hint });
  }
}

/** The hint for a missing unit of a model that has a list price, or one for other work. */
function missingHint(
  unit: string,
  upstreams: readonly ReadUpstream[],
  { modalities, prices }: Known,
): string | undefined {
  const listed = upstreams.find((one) => one.listed)?.listed;
  const amount = listed && prices.amountOf(listed, unit);
  if (listed && amount !== undefined)
    return `add ${unit}: ${amount}, the list price of ${quote(listed.model)}, or write price: list`;
  const work = listedWork(false, modalities);
  if (unit !== 'output_per_million' || !listed?.units.includes('input_per_million') || !work)
    return undefined;
  return `write capabilities: [${work.name}], as ${quote(listed.model)} ${work.configuration.does}`;
}

function readLimits({ limits = {} }: Entry, known: Known): Model['limits'] {
  const { max_tokens, context, image_tokens, default_max_tokens: own } = limits;
  const upper = max_tokens ?? context ?? Infinity;
  const shared = known.default_max_tokens;
  const default_max_tokens = own ?? (shared === undefined ? undefined : Math.min(shared, upper));
  const video = readVideoLimits(limits);
  const { tool_calls, images, image_pixels, audio_seconds } = limits;
  return {
    max_tokens,
    ...(default_max_tokens !== undefined && { default_max_tokens }),
    context,
    image_tokens,
    ...(tool_calls !== undefined && { tool_calls }),
    ...(images !== undefined && { images }),
    ...(image_pixels !== undefined && { image_pixels }),
    ...(audio_seconds !== undefined && { audio_seconds }),
    ...(video && { video }),
  };
}

function readVideoLimits(limits: NonNullable<Entry['limits']>): VideoLimits | undefined {
  const { duration_seconds, sample_count } = limits;
  const resolutions = limits.resolutions?.flatMap((one) => one ?? []);
  const video = { duration_seconds, sample_count, resolutions };
  return Object.values(video).some((limit) => limit !== undefined) ? video : undefined;
}

/** Unix seconds of the year 5138. The milliseconds of any day after 1973 are more. */
const MAX_CREATED = 100_000_000_000;

function readCreated(
  source: Source,
  pointer: string,
  created: string | number | undefined,
): number | undefined {
  if (typeof created === 'number' && created > MAX_CREATED) {
    const message = 'created: these are milliseconds, and seconds are wanted';
    const hint = `write ${Math.floor(created / 1_000)}`;
    source.fault(pointer, { code: 'wrong_value', message, hint });
  }
  if (typeof created !== 'string') return created;
  const date = new Date(created);
  // `Date` silently turns the 30th of February into a day of March.
  const real =
    Number.isFinite(date.getTime()) && date.toISOString().startsWith(created.slice(0, 10));
  if (real) return Math.floor(date.getTime() / 1000);
  const message = `created: ${source.word(pointer)} is not a day of the calendar`;
  source.fault(pointer, { code: 'wrong_value', message, hint: 'such as 2024-07-18' });
  return undefined;
}

/**
 * A field that one manifest passes through is not sent to an upstream with another manifest, to
 * which it may be unknown. Fields that the model itself lists are sent to all.
 */
function withoutForeign(
  entry: Entry,
  upstreams: readonly ReadUpstream[],
  every: ReadonlySet<string>,
): Upstream[] {
  const listed = entry.passthrough ?? [];
  return upstreams.map(({ upstream, read }) => {
    const shared = passthroughOfManifest(read.manifest);
    // Of as many fields as its manifest has, none is foreign.
    if (shared.size === every.size) return upstream;
    const all = without(every)(shared);
    const isMeant = (field: string): boolean =>
      listed.includes(field) || upstream.rename[field] !== undefined;
    const foreign = all.some(isMeant) ? all.filter((field) => !isMeant(field)) : all;
    return foreign.length === 0 ? upstream : { ...upstream, drop: joined(upstream.drop)(foreign) };
  });
}

/** Many models share a manifest, and some manifests pass through dozens of fields. */
const passthroughOfManifest = memoizeByObject(
  ({ data }: Manifest) => new Set((data.passthrough ?? []).filter((field) => field !== undefined)),
);

type FieldNames = ReadonlySet<string>;

const without = memoizeByObject((all: FieldNames) =>
  memoizeByObject((some: FieldNames) => [...all].filter((field) => !some.has(field))),
);

/** Models with the same manifests share one list of the fields that are dropped. */
const joined = memoizeByObject((some: readonly string[]) =>
  memoizeByObject((more: readonly string[]) => [...new Set([...some, ...more])]),
);

const withAll = memoizeByObject((some: FieldNames) =>
  memoizeByObject((more: FieldNames) => new Set([...some, ...more])),
);

/** Models whose upstreams have the same manifests share one set, unless they list own fields. */
function passthroughOf(entry: Entry, upstreams: readonly ReadUpstream[]): FieldNames {
  const manifests = [...new Set(upstreams.map(({ read }) => read.manifest))];
  const [first = NO_FIELDS, ...others] = manifests.map(passthroughOfManifest);
  const shared = others.reduce<FieldNames>((some, more) => withAll(some)(more), first);
  const own = (entry.passthrough ?? []).filter((field) => field !== undefined);
  return own.length === 0 ? shared : new Set([...shared, ...own]);
}

const NO_FIELDS: FieldNames = new Set();
