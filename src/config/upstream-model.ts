import { memoizeByObject, isRecord } from '../lib/objects.js';
import type { Modalities } from '../pipeline/modality.js';
import type { UpstreamEntry } from '../schema-types/gateway.js';
import { MISPLACED_KEY } from '../yaml/key-hints.js';
import { flow } from '../yaml/schema-walk.js';
import { isKey } from '../yaml/secrets.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';
import type { Manifest, ReadProvider } from './adapter.js';
import { hasOwnAddress } from '../pipeline/model-check.js';
import { foreignModel } from './foreign-models.js';
import type { ListPrice, ListPrices } from './list-prices.js';
import { isOtherVersion } from './model-names.js';

/** An upstream, as far as its model is looked at. */
interface Asked {
  source: Source;
  pointer: string;
  /** The place of the price that it pays. */
  price_at: string;
  /** The ID of the entry that has the upstream. */
  id: string;
  entry: PartialLoad<UpstreamEntry>;
  read: ReadProvider;
  prices: ListPrices;
}

/**
 * Finds an ID that the provider does not know: one with a space, one that is nearly a known one, or
 * one with more or fewer parts than its IDs have. `isAtList` says that the list price is asked for.
 * Returns whether it is most likely another model than the one that is meant.
 */
export function checkModel(
  asked: Asked,
  isAtList: boolean,
  listed: ListPrice | undefined,
  modalities: Modalities,
): boolean {
  const isWrong = checkForm(asked) || checkParts(asked, isAtList && !listed, modalities);
  // One fault at the model is enough; without one, the price must be.
  if (isWrong) return false;
  if ((listed || !isAtList) && checkOther(asked, listed, isAtList, modalities)) return true;
  if (listed) return false;
  if (isAtList) reportNoListPrice(asked);
  else if (!checkVendor(asked)) checkName(asked);
  return false;
}

function modelOf({ entry, id }: Asked): string {
  return entry.model ?? id;
}

/** Reports an ID with a space around it, and a key in its place. */
function checkForm({ source, pointer, entry }: Asked): boolean {
  const place = `${pointer}/model`;
  const model = entry.model ?? '';
  if (!source.has(place) || source.hides(place)) return false;
  const isSpaced = model !== model.trim();
  if (isSpaced) {
    const message = `model: ${source.word(place)} begins or ends with a space`;
    source.fault(place, { code: 'bad_model', message, hint: `write ${flow(model.trim())}` });
  }
  if (!isKey(model)) return isSpaced;
  const message = `model: ${source.word(place)} is not the ID of a model`;
  source.fault(place, { code: 'bad_model', message, hint: MISPLACED_KEY });
  return true;
}

/** Reports an ID with the name of its provider, or with a part of the address, within it. */
function checkParts(asked: Asked, isUnpriced: boolean, modalities: Modalities): boolean {
  const { source, pointer, read } = asked;
  const place = `${pointer}/model`;
  if (!source.has(place) || source.hides(place)) return false;
  const model = modelOf(asked);
  const { manifest } = read.provider;
  const bare = model.slice(model.indexOf('/') + 1);
  const isPrefixed = bare !== model && model.startsWith(`${manifest}/`);
  // Without a list price nothing is charged: then it must be an error.
  const severity = isUnpriced ? 'error' : 'warning';
  if (isPrefixed && !mayExist(asked, model, modalities) && mayExist(asked, bare, modalities)) {
    source.fault(place, {
      code: 'prefixed_model',
      message: `model: the provider itself knows ${source.word(place)} as ${quote(bare)}`,
      hint: `write ${flow(bare)}: the provider stands in a key of its own`,
      severity,
    });
    return true;
  }
  const around = aroundModel(read.manifest.data);
  const before = around.find(([head]) => head !== '' && model.startsWith(head))?.[0];
  const after = around.find(([, tail]) => tail !== '' && model.endsWith(tail))?.[1];
  const part = before ?? after;
  if (part === undefined || part.length >= model.length) return false;
  const right = before === undefined ? model.slice(0, -part.length) : model.slice(part.length);
  source.fault(place, {
    code: 'prefixed_model',
    message: `model: the gateway adds ${quote(part)} to the address itself`,
    hint: `write ${flow(right)}`,
    severity,
  });
  return true;
}

/** Whether a provider may have a model of this ID. */
function mayExist({ source, read, prices }: Asked, id: string, modalities: Modalities): boolean {
  const { provider, manifest } = read;
  const own = `${provider.manifest}/`;
  if (hasVendors(manifest) && !isElsewhere(source, read)) {
    return id.includes('/') && !(id.startsWith(own) && id.slice(own.length).includes('/'));
  }
  return mayHaveSlash(source, read, prices)
    ? prices.find({ provider, model: id }, modalities) !== undefined
    : !id.includes('/');
}

/** Whether a server at an address of the operator's own may give its models any name. */
function isElsewhere(source: Source, { provider }: ReadProvider): boolean {
  return hasOwnAddress(source, provider.name);
}

/** Whether the IDs of all its models have a vendor in front. */
function hasVendors({ data }: Manifest): boolean {
  return data.model_example?.includes('/') === true;
}

/** Whether the IDs of a provider's models may have a slash. */
function mayHaveSlash(source: Source, read: ReadProvider, prices: ListPrices): boolean {
  const { provider, manifest } = read;
  // Such a provider serves deployments of the operator's own, whose names have none.
  if (manifest.data.base_url?.includes('{resource}')) return false;
  const started = Object.keys(manifest.data.init?.models ?? {});
  return isElsewhere(source, read) || prices.names(provider.manifest, started).mayHaveSlash;
}

/** Warns of an ID without the vendor that all IDs of its provider begin with. */
function checkVendor(asked: Asked): boolean {
  const { source, pointer, read, entry } = asked;
  const { manifest, provider } = read;
  const own = `${pointer}/model`;
  const isOwn = source.has(own);
  const model = modelOf(asked);
  if (!hasVendors(manifest) || model.includes('/') || isElsewhere(source, read)) return false;
  if (isOwn && (entry.model === undefined || source.hides(own))) return false;
  const example = manifest.data.model_example ?? '';
  const vendor = example.startsWith('@') ? undefined : vendorOf(asked, model);
  const whole = `${example.startsWith('@') ? '@' : ''}${vendor ?? 'VENDOR'}/${model}`;
  const such =
    vendor === undefined
      ? `, such as ${flow(example)}`
      : `, with the vendor as ${provider.manifest} spells it`;
  source.fault(isOwn ? own : pointer, {
    code: 'unknown_model',
    message: `model: ${quote(model)} lacks its vendor, which ${provider.manifest} has in front`,
    hint: `${isOwn ? 'write' : 'add'} model: ${flow(whole)}${such}`,
    severity: 'warning',
  });
  return true;
}

/** The maker of a model, if the list of prices and the model's owner in the file agree on it. */
function vendorOf({ source, id, prices }: Asked, model: string): string | undefined {
  const maker = prices.ownerOf(model) ?? prices.ownerOf(model.replaceAll('.', '-'));
  return maker === source.text(`/models${join(id)}/owner`) ? maker : undefined;
}

/** What stands before and behind `{model}` in the paths of a manifest. */
const aroundModel = memoizeByObject((data: Manifest['data']) => {
  const operations = Object.values(data.operations ?? {});
  const paths = operations.flatMap((one) => textsIn((one as { path?: unknown } | undefined)?.path));
  return paths.flatMap((path): (readonly [string, string])[] => {
    const [, head, tail] = /^\/?(.*?)\{model\}(\/[^{}]*)?/.exec(path) ?? [];
    if (head !== undefined) return [[/[{}]/.test(head) ? '' : head, tail ?? '']];
    return path.endsWith('/models')
      ? [
          [`${path.slice(1)}/`, ''],
          ['models/', ''],
        ]
      : [];
  });
});

/** The texts of a template. */
function textsIn(template: unknown): string[] {
  if (typeof template === 'string') return [template];
  return isRecord(template) ? Object.values(template).flatMap(textsIn) : [];
}

/** Reports it at the model where that is a known one in other words, and else at the price. */
function reportNoListPrice(asked: Asked): void {
  const { source, pointer, price_at, read, prices } = asked;
  const { provider } = read;
  const model = modelOf(asked);
  const place = `${pointer}/model`;
  const names = prices.names(provider.manifest, []);
  const isOwn = source.has(place);
  const last = isOwn ? names.exact(model.slice(model.lastIndexOf('/') + 1)) : undefined;
  const meant = source.hides(place) ? undefined : (names.meant(model) ?? last);
  const owner = isOwn ? undefined : prices.ownerOf(model);
  const isForeign = owner !== undefined && !prices.sells(provider.manifest, owner);
  if (isForeign && names.first !== undefined) {
    const message = `there is no list price of ${quote(model)} at ${provider.manifest}`;
    const such = `such as model: ${flow(names.first)}`;
    const hint = `it is a model of ${owner}: add model: ID here, ${such}`;
    source.fault(pointer, { code: 'unknown_list_price', message, hint });
    return;
  }
  const other = prices.writtenOf(asked.id) ?? prices.writtenOf(model);
  const own = other
    ? `write the prices: elsewhere this model costs ${other}`
    : prices.hint({ provider, model });
  const near = isOwn ? `did you mean ${quote(meant ?? '')}?` : `add model: ${flow(meant)}`;
  source.fault(meant === undefined ? price_at : isOwn ? place : pointer, {
    code: 'unknown_list_price',
    message: `there is no list price of ${quote(model)} at ${provider.manifest}`,
    hint: meant === undefined ? own : near,
  });
}

/**
 * Warns of a known model that another one answers for, as of a copied upstream: at its own list
 * price, beside an entry of its own, or at the list price of the known model. One that no list has
 * is told by its numbers.
 */
function checkOther(
  asked: Asked,
  listed: ListPrice | undefined,
  isAtList: boolean,
  modalities: Modalities,
): boolean {
  const { source, pointer, id, read, prices } = asked;
  const { model } = asked.entry;
  const isFirst = pointer.endsWith('/upstreams/0');
  if (model === undefined || !isFirst || listed?.model === id || model === id) return false;
  if (!listed && (isElsewhere(source, read) || !isOtherVersion(model, id))) return false;
  const maker = read.provider.manifest;
  const meant = prices.find({ provider: read.provider, model: id }, modalities);
  if (meant?.model !== id) return false;
  const isPriced = isAtList || isPricedAs(asked, meant);
  if (!isPriced && !source.has(`/models${join(model)}`)) return false;
  source.fault(`${pointer}/model`, {
    code: 'other_model',
    message: `model: ${quote(model)} answers for ${quote(id)}, which ${maker} has itself`,
    hint: `write model: ${flow(id)}, or leave it if that is meant`,
    severity: 'warning',
  });
  return true;
}

/** Whether the price is about the list price of the model that has the ID of the entry. */
function isPricedAs({ source, price_at, prices }: Asked, meant: ListPrice): boolean {
  const listed = Number(prices.amountOf(meant, INPUT));
  const given = Number(source.text(`${price_at}/${INPUT}`));
  return given > listed / 2 && given < listed * 2;
}

const INPUT = 'input_per_million';

/** Warns of a model ID that is nearly one that the manifest or the list of prices knows. */
function checkName(asked: Asked): void {
  const { source, pointer, entry, read, prices } = asked;
  const { provider, manifest } = read;
  if (isElsewhere(source, read)) return;
  const own = `${pointer}/model`;
  const isOwn = source.has(own);
  if (isOwn && (entry.model === undefined || source.hides(own))) return;
  const model = modelOf(asked);
  const started = Object.keys(manifest.data.init?.models ?? {});
  const names = prices.names(provider.manifest, started);
  if (isOwn && model === provider.manifest && names.first !== undefined) {
    const message = `model: ${quote(model)} is the name of the provider`;
    const hint = `write the ID of a model, such as ${flow(names.first)}`;
    source.fault(own, { code: 'unknown_model', message, hint, severity: 'warning' });
    return;
  }
  const near = names.meant(model);
  const message = `model: the gateway knows no model ${quote(model)} of ${provider.manifest}`;
  const hint = isOwn ? `did you mean ${quote(near ?? '')}?` : `add model: ${flow(near)}`;
  const region = source.text(`/providers${join(provider.name)}/region`);
  const foreign = { source, manifest: provider.manifest, names, model, isOwn, region };
  const wrong =
    near === undefined ? foreignModel(foreign, prices) : { message, hint, key: undefined };
  if (!wrong) return;
  const { key = isOwn ? 'model' : undefined, ...words } = wrong;
  const place = key === undefined ? pointer : `${pointer}/${key}`;
  source.fault(place, { code: 'unknown_model', ...words, severity: 'warning' });
}
