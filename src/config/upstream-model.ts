import { memoizeByObject, isRecord } from '../lib/objects.js';
import type { Modalities } from '../pipeline/modality.js';
import type { UpstreamEntry } from '../schema-types/gateway.js';
import { MISPLACED_KEY } from '../yaml/key-hints.js';
import { flow } from '../yaml/schema-walk.js';
import { isKey } from '../yaml/secrets.js';
import { quote, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';
import type { Manifest, ReadProvider } from './adapter.js';
import { hasOwnAddress } from '../pipeline/model-check.js';
import type { ListPrice, ListPrices } from './list-prices.js';

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
  modalities: Modalities;
}

/** Reports an ID that is no ID, and one without the list price that is asked for. */
export function checkModel(asked: Asked, isAtList: boolean, listed: ListPrice | undefined): void {
  if (checkForm(asked) || !isAtList || listed) return;
  const stray = strayPart(asked, { ...asked, model: modelOf(asked) });
  const place = `${asked.pointer}/model`;
  // Without a list price nothing would be charged.
  if (stray) asked.source.fault(place, { code: 'prefixed_model', ...stray });
  else reportNoListPrice(asked);
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

/** The words for an ID with the name of its provider, or with a part of the address, within it. */
export function strayPart(
  known: Pick<Asked, 'source' | 'prices' | 'modalities'>,
  { pointer, model, read }: Pick<Asked, 'pointer' | 'read'> & { model: string },
): { message: string; hint: string } | undefined {
  const { source } = known;
  const place = `${pointer}/model`;
  if (!source.has(place) || source.hides(place)) return undefined;
  const bare = model.slice(model.indexOf('/') + 1);
  const isPrefixed = bare !== model && model.startsWith(`${read.provider.manifest}/`);
  const asked = { ...known, read };
  if (isPrefixed && !mayExist(asked, model) && mayExist(asked, bare)) {
    return {
      message: `model: the provider itself knows ${source.word(place)} as ${quote(bare)}`,
      hint: `write ${flow(bare)}: the provider stands in a key of its own`,
    };
  }
  const around = aroundModel(read.manifest.data);
  const before = around.find(([head]) => head !== '' && model.startsWith(head))?.[0];
  const after = around.find(([, tail]) => tail !== '' && model.endsWith(tail))?.[1];
  const part = before ?? after;
  if (part === undefined || part.length >= model.length) return undefined;
  const right = before === undefined ? model.slice(0, -part.length) : model.slice(part.length);
  const message = `model: the gateway adds ${quote(part)} to the address itself`;
  return { message, hint: `write ${flow(right)}` };
}

/** Whether a provider may have a model of this ID. */
function mayExist(
  { source, read, prices, modalities }: Pick<Asked, 'source' | 'read' | 'prices' | 'modalities'>,
  id: string,
): boolean {
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
  const names = prices.names(provider.manifest, Object.keys(read.manifest.data.init?.models ?? {}));
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
