import type { ErrorObject } from 'ajv/dist/2020.js';
import { isRecord } from '../lib/objects.js';
import { nearestWord } from './did-you-mean.js';
import { filled } from './filled-hints.js';
import { foreignKeyHint, notForHint } from './foreign.js';
import { foreignPriceHint } from './foreign-prices.js';
import type { Explained } from './misplaced.js';
import { flow, followed, homesOf, wants } from './schema-walk.js';
import { pointer as join, quote, segments, type Source } from './source.js';
import { namedUpstream } from './value-hints.js';

/** The fault of a key that its block does not have. */
export function unknownKey(
  error: ErrorObject,
  key: string,
  source: Source,
  schema: unknown,
): Explained {
  const message = `unknown key ${quote(key)}`;
  const hint = keyHint(error, key, source, schema);
  return {
    pointer: error.instancePath + join(key),
    wrong: { code: 'unknown_key', message, hint, at: 'key' },
  };
}

/** Spaces that look like others or have no width, and marks of a file's beginning. */
const UNSEEN = /[\u00A0\u00AD\u200B-\u200F\u202F\u2060\uFEFF]/;

function keyHint(error: ErrorObject, key: string, source: Source, schema: unknown): string {
  const [unseen] = UNSEEN.exec(key) ?? [];
  if (unseen !== undefined) {
    const code = unseen.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `it has an invisible character, U+${code}: delete the key, and type it anew`;
  }
  const written = writtenHint(error, key, schema);
  if (written !== undefined) return written;
  const entry = entryHint(error, key, schema);
  if (entry !== undefined) return entry;
  const upstream = namedUpstream(error, key, source);
  if (upstream !== undefined) return `write ${upstream}`;
  const nested = nestedHint(error, key);
  if (nested !== undefined) return nested;
  const inner = homeOf(key, error, schema);
  if (inner !== undefined) return homeHint(inner, error, source, schema);
  const value: unknown = isRecord(error.data) ? error.data[key] : undefined;
  const foreign = foreignKeyHint(key, titleOf(error, source), value) ?? foreignPriceHint(key);
  const whole = foreign && filled(foreign, { source, at: error.instancePath, key, value });
  if (whole !== undefined) return whole;
  const allowed = allowedKeys(error);
  const near = nearestWord(key, allowed);
  if (near !== undefined) return didYouMean(near);
  const homes = homesOf(key, schema);
  // A key of a model or a provider belongs to another of their blocks sooner than to a setting.
  const [map = ''] = segments(error.instancePath);
  const near_home =
    homes.find((one) => one === `${map}.NAME.${key}`) ??
    homes.find((one) => /^(?:providers|models)\./.test(one));
  const home = error.instancePath === '' ? homes[0] : (near_home ?? homes[0]);
  if (home !== undefined) return elsewhere(home, key, error.instancePath, source);
  const other = notForHint(error.parentSchema?.['x-type']);
  return allowed.length > 0 ? `allowed here: ${allowed.join(', ')}${other}` : '';
}

/** The hint for a key of another block: one above this block, or elsewhere in the file. */
function elsewhere(home: string, key: string, at: string, source: Source): string {
  const [map = '', , block = '', ...deeper] = segments(at);
  const isAbove = home === `${map}.NAME.${key}` && block !== '';
  if (isAbove) return `it stands too deep: begin it in the column of ${quote(block)}`;
  const own = source.text(`${at}/provider`);
  const isNamed = home.startsWith('providers.NAME.') && deeper.length > 0 && own !== undefined;
  if (!isNamed || source.hides(`${at}/provider`)) return `it belongs elsewhere: ${home}`;
  return `it belongs elsewhere: ${home.replace('NAME', own)}`;
}

/**
 * The title of the block; that of a price also names the work, where units are alike, and that of
 * an upstream says whether its provider is named, so that another name can only be its model's.
 */
function titleOf({ parentSchema, instancePath }: ErrorObject, source: Source): string {
  const title = String(parentSchema?.['x-type']);
  const isNamed = source.has(`${instancePath}/provider`) && !source.has(`${instancePath}/model`);
  if (title === 'UpstreamEntry' && isNamed) return `${title} of a provider`;
  if (title !== 'PriceEntry') return title;
  const capabilities = source.valueAt(join(...segments(instancePath).slice(0, 2), 'capabilities'));
  const listed: unknown[] = Array.isArray(capabilities) ? capabilities : [];
  const work = ['video', 'transcription'].find((one) => listed.includes(one));
  return work === undefined ? title : `${title} of ${work}`;
}

/** A key within a block of another program that says more than the name of the block. */
function nestedHint({ data }: ErrorObject, key: string): string | undefined {
  const block: unknown = isRecord(data) ? data[key] : undefined;
  const isMaster = isRecord(block) && Object.hasOwn(block, 'master_key');
  return isMaster ? 'keys are made by tollgate key create: remove this block' : undefined;
}

/** The hint for a key in a wrong form, or for one whose whole block stands in a wrong place. */
function writtenHint(error: ErrorObject, key: string, schema: unknown): string | undefined {
  if (key.startsWith('//')) return 'a comment begins with #';
  const image = imagePriceHint(error, key);
  if (image !== undefined) return image;
  if (/^<+$/.test(key)) return 'write <<: to merge a block';
  const [, name = '', value] = /^([\w-]+):(\S+)$/.exec(key) ?? [];
  if (allowedKeys(error).includes(name)) return `put a space behind the colon: ${name}: ${value}`;
  const [, head = ''] = /^([\w-]+)\s+[{[]/.exec(key) ?? [];
  if (allowedKeys(error).includes(head)) return `the colon is missing: write ${head}: { ... }`;
  const [, width, height] = /^(\d+)\s?[*×xX:]\s?(\d+)$/.exec(key) ?? [];
  const lines = `${Math.min(Number(width), Number(height))}p`;
  if (allowedKeys(error).includes(lines)) return didYouMean(lines);
  if (height !== undefined && !key.includes('x')) return didYouMean(`${width}x${height}`);
  const block: unknown = isRecord(error.data) ? error.data[key] : undefined;
  const home = entryHome(block, schema);
  if (home === undefined) return undefined;
  const isTop = error.instancePath === '';
  const way = isTop ? 'indent it' : 'begin it in the column of the others there';
  return `it belongs under ${quote(home)}: ${way}`;
}

/** The hint for a key of `per_image` that names no quality and no size. */
function imagePriceHint({ instancePath, data }: ErrorObject, key: string): string | undefined {
  if (!instancePath.endsWith('/price/per_image') || !isRecord(data)) return undefined;
  if (key === 'auto') return 'auto costs what the upstream chooses: write low, standard and hd';
  const isAll = /^(?:price|default|any|all|each|flat|other)$/.test(key);
  return isAll && typeof data[key] === 'number'
    ? `write per_image: ${data[key]}, or a price by quality: standard and hd`
    : undefined;
}

/** The hint for an entry that stands within another one of its kind. */
function entryHint({ data, instancePath }: ErrorObject, key: string, schema: unknown) {
  const block: unknown = isRecord(data) ? data[key] : undefined;
  const [map = '', name, further] = segments(instancePath);
  const { properties } = followed(schema, schema);
  if (name === undefined || further !== undefined || !isRecord(block)) return undefined;
  const { additionalProperties } = followed(isRecord(properties) ? properties[map] : {}, schema);
  const { properties: own } = followed(additionalProperties, schema);
  const keys = Object.keys(block);
  if (!isRecord(own) || keys.length === 0) return undefined;
  const isEntry = keys.every((one) => Object.hasOwn(own, one));
  return isEntry
    ? `begin it in the column of ${quote(name)}: it is an entry of its own`
    : undefined;
}

/** The block of the file whose entries have the keys of this one. */
function entryHome(block: unknown, schema: unknown): string | undefined {
  const { properties } = followed(schema, schema);
  const keys = isRecord(block) ? Object.keys(block) : [];
  if (!isRecord(properties) || keys.length < 2) return undefined;
  return Object.keys(properties).find((name) => {
    const { additionalProperties } = followed(properties[name], schema);
    const { properties: entry } = followed(additionalProperties, schema);
    return isRecord(entry) && keys.every((key) => Object.hasOwn(entry, key));
  });
}

function didYouMean(word: string): string {
  return `did you mean ${quote(word)}?`;
}

/** The key that a block has beside those of the schema. */
export function extraKey({ params }: ErrorObject): string | undefined {
  const key: unknown = params.additionalProperty;
  return typeof key === 'string' ? key : undefined;
}

/** The keys of the schema for the block of an error. */
export function allowedKeys({ parentSchema }: ErrorObject): string[] {
  const properties: unknown = parentSchema?.properties;
  return isRecord(properties) ? Object.keys(properties) : [];
}

/** The block that should contain a key which stands one level too high. */
function homeOf(
  key: string,
  { parentSchema, data }: ErrorObject,
  schema: unknown,
): string | undefined {
  const properties: unknown = parentSchema?.properties;
  if (!isRecord(properties)) return undefined;
  const value: unknown = isRecord(data) ? data[key] : undefined;
  return Object.keys(properties).find((name) => {
    const inner = followed(properties[name], schema);
    if (!isRecord(inner.properties) || !Object.hasOwn(inner.properties, key)) return false;
    // A list under the name of a number is another thing of the same name.
    return !Array.isArray(value) || wants(followed(inner.properties[key], schema), 'array');
  });
}

/** Keys of the block that belong under the same inner block, which one fault covers. */
function withSameHome(home: string, error: ErrorObject, schema: unknown): string[] {
  const allowed = allowedKeys(error);
  const keys = isRecord(error.data) ? Object.keys(error.data) : [];
  return keys.filter((key) => !allowed.includes(key) && homeOf(key, error, schema) === home);
}

/** Whether an earlier key of the block belongs to the same place, and has the fault for both. */
export function isCoveredByHome(error: ErrorObject, schema: unknown): boolean {
  const key = extraKey(error);
  const home = key === undefined ? undefined : homeOf(key, error, schema);
  if (home === undefined) return false;
  // An empty block has the fault for the keys that should be in it.
  const isEmpty = isRecord(error.data) && error.data[home] === null;
  return isEmpty || withSameHome(home, error, schema)[0] !== key;
}

/** The hint for keys one level too high: their block, with them in it where it fits. */
function homeHint(home: string, error: ErrorObject, source: Source, schema: unknown): string {
  const keys = withSameHome(home, error, schema);
  if (keys.length < 2) return `it belongs under ${quote(home)}`;
  const data = isRecord(error.data) ? error.data : {};
  const block = flow(Object.fromEntries(keys.map((one) => [one, data[one]])));
  const isHidden = keys.some((one) => source.hidesWithin(error.instancePath + join(one)));
  const isPlain = !Object.hasOwn(data, home) && !isHidden && block.length <= 80;
  return isPlain ? `write ${home}: ${block}` : `${keys.join(' and ')} belong under ${quote(home)}`;
}
