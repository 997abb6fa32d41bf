import type { ErrorObject } from 'ajv/dist/2020.js';
import { isRecord } from '../lib/is-record.js';
import { nearestWord } from './did-you-mean.js';
import { filled } from './filled-hints.js';
import { foreignKeyHint, notForHint } from './foreign-keys.js';
import { requiredFor } from './foreign-required.js';
import { isCausedBy, misplaced, misplacedFaults, type Explained } from './misplaced.js';
import { followed, homesOf, wants } from './schema-walk.js';
import { pointer as join, quote, segments, type Source, type FaultDetails } from './source.js';
import { emptyHint, hiddenHint, missingHint, namedUpstream, valueHint } from './value-hints.js';

/** The schema's errors in plain English, each with the pointer to its place. */
export function explainAll(
  errors: readonly ErrorObject[],
  source: Source,
  schema: unknown,
): Explained[] {
  const misspelt = new Set(errors.flatMap((error) => misspellings(error, source)));
  const deep = misplaced(source);
  const others = errors.flatMap((error) => {
    if (deep.some((one) => isCausedBy(error, one))) return [];
    // `*` has no address of its own. The check of the endpoints reports one that is written there.
    if (error.keyword === 'dependentRequired' && error.instancePath === '/endpoints/*') return [];
    // A misspelt key is reported once: as an unknown key, not also as a missing one.
    const missing: unknown = error.params['missingProperty'];
    if (typeof missing === 'string' && misspelt.has(error.instancePath + join(missing))) return [];
    if (isMethodOfPath(error)) return [];
    // A wrong name is reported once: not again by the pattern that it breaks.
    if (error.propertyName !== undefined && error.keyword !== 'propertyNames') return [];
    return [explain(error, source, schema)];
  });
  return [...misplacedFaults(deep), ...others];
}

/** Whether a key has the method for a path in a key beside it, whose fault names both. */
function isMethodOfPath(error: ErrorObject): boolean {
  const key = extraKey(error) ?? '';
  const { data, parentSchema } = error;
  const isEndpoint = parentSchema?.['title'] === 'EndpointBlock';
  if (!isEndpoint || !/^methods?$/.test(key) || !isRecord(data)) return false;
  return ['path', 'url', 'endpoint', 'route'].some((one) => Object.hasOwn(data, one));
}

function misspellings(error: ErrorObject, source: Source): string[] {
  const key = extraKey(error);
  if (key === undefined) return [];
  const named = namedUpstream(error, key, source) === undefined ? [] : ['provider'];
  const allowed = allowedKeys(error);
  // In JSON, a comment of another language takes the key of the next line with it.
  const commented = key.startsWith('//') ? allowed.filter((one) => key.includes(`"${one}"`)) : [];
  const near = nearestWord(key, allowed) ?? [];
  const right = [near, requiredFor(key), named, commented].flat();
  return right.map((one) => error.instancePath + join(one));
}

function explain(error: ErrorObject, source: Source, schema: unknown): Explained {
  const { keyword, instancePath: pointer, params } = error;
  const key = extraKey(error);
  if (key !== undefined) return unknownKey(error, key, source, schema);
  if (keyword === 'propertyNames') return badName(error, schema);
  if (keyword === 'required' || keyword === 'dependentRequired')
    return missingKey(error, source, schema);
  if (error.data === null) {
    const message = `${label(pointer)} is empty; it should be ${wanted(error)}`;
    const hint = emptyHint(source, pointer, schema);
    return { pointer, wrong: { code: 'empty', message, hint, at: 'key' } };
  }
  if (keyword === 'uniqueItems') {
    const later = pointer + join(Math.max(Number(params['i']), Number(params['j'])));
    const message = `${label(pointer)} has ${source.word(later)} twice`;
    return { pointer: later, wrong: { code: 'duplicate_value', message, hint: 'remove one' } };
  }
  if (EMPTY.has(keyword) && error.data !== '' && typeof error.data === 'string') {
    return { pointer, wrong: wrongValue(error, source, schema) };
  }
  if (EMPTY.has(keyword)) {
    const such = valueHint(error, source, schema);
    const hint =
      keyword === 'minLength' ? `it should be ${wanted(error)}` : `add at least one, ${such}`;
    return { pointer, wrong: { code: 'empty', message: `${label(pointer)} is empty`, hint } };
  }
  return { pointer, wrong: wrongValue(error, source, schema) };
}

const EMPTY = new Set(['minItems', 'minLength', 'minProperties']);

function unknownKey(error: ErrorObject, key: string, source: Source, schema: unknown): Explained {
  const message = `unknown key ${quote(key)}`;
  const hint = keyHint(error, key, source, schema);
  return {
    pointer: error.instancePath + join(key),
    wrong: { code: 'unknown_key', message, hint, at: 'key' },
  };
}

function keyHint(error: ErrorObject, key: string, source: Source, schema: unknown): string {
  const written = writtenHint(error, key, schema);
  if (written !== undefined) return written;
  const upstream = namedUpstream(error, key, source);
  if (upstream !== undefined) return `write ${upstream}`;
  const nested = nestedHint(error, key);
  if (nested !== undefined) return nested;
  const inner = homeOf(key, error, schema);
  if (inner !== undefined) return `it belongs under ${quote(inner)}`;
  const value: unknown = isRecord(error.data) ? error.data[key] : undefined;
  const foreign = foreignKeyHint(key, titleOf(error, source), value);
  const whole = foreign && filled(foreign, { source, at: error.instancePath, key, value });
  if (whole !== undefined) return whole;
  const allowed = allowedKeys(error);
  const near = nearestWord(key, allowed);
  if (near !== undefined) return didYouMean(near);
  const homes = homesOf(key, schema);
  // A key of a model or a provider belongs to another of their blocks sooner than to a setting.
  const near_home = homes.find((one) => /^(?:providers|models)\./.test(one));
  const home = error.instancePath === '' ? homes[0] : (near_home ?? homes[0]);
  if (home !== undefined) return `it belongs elsewhere: ${home}`;
  const other = notForHint(error.parentSchema?.['title']);
  return allowed.length > 0 ? `allowed here: ${allowed.join(', ')}${other}` : '';
}

/** The title of the block; that of a price also names the work, where units are alike. */
function titleOf({ parentSchema, instancePath }: ErrorObject, source: Source): string {
  const title = String(parentSchema?.['title']);
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

function missingKey(error: ErrorObject, source: Source, schema: unknown): Explained {
  const { instancePath: pointer, params } = error;
  const missing = String(params['missingProperty']);
  const where = pointer === '' ? 'the file' : label(pointer);
  const message = `${where} is missing the key ${quote(missing)}`;
  const hint = missingHint(source, pointer, missing, schema);
  return { pointer, wrong: { code: 'missing_key', message, hint, at: 'key' } };
}

function badName(error: ErrorObject, schema: unknown): Explained {
  const name = String(error.params['propertyName']);
  const part = followed(error.schema, schema);
  const message = `${quote(name)} is not ${describe(part) ?? 'a name'}`;
  const dashed = name.trim().replaceAll(/\s+/g, '-');
  const { pattern } = part;
  const form = typeof pattern === 'string' ? new RegExp(pattern, 'u') : /^\S{1,256}$/u;
  const [, word] = /^([\w.-]+)\s*[{[(]/.exec(name) ?? [];
  const near = [word === undefined ? '' : `${word}:`, dashed, dashed.toLowerCase()].find((one) =>
    form.test(one),
  );
  const hint = near === undefined || near === name ? 'choose another name' : `write ${near}`;
  return {
    pointer: error.instancePath + join(name),
    wrong: { code: 'bad_name', message, hint, at: 'key' },
  };
}

function wrongValue(error: ErrorObject, source: Source, schema: unknown): FaultDetails {
  const { keyword, instancePath: pointer, parentSchema, data } = error;
  const secret = parentSchema?.['writeOnly'] === true;
  const scalar = typeof data !== 'object';
  let word = scalar ? source.word(pointer) : kindOf(data);
  if (secret) word = 'its value';
  const message =
    pointer === ''
      ? `the file is ${scalar ? 'one text' : word}, without keys and values`
      : `${label(pointer)}: ${word} is not ${wanted(error)}`;
  const code = keyword === 'type' ? 'wrong_type' : 'wrong_value';
  // A hint made from a secret could show a part of it, so such a hint describes the form alone.
  const isHidden = scalar && (secret || source.hides(pointer));
  const hint = isHidden ? hiddenHint(error, source, schema) : valueHint(error, source, schema);
  // One example is enough: the message may have one already.
  const isEcho = hint.startsWith('such as') && message.includes('such as');
  return { code, message, hint: isEcho ? '' : hint };
}

function wanted({ keyword, schema, parentSchema }: ErrorObject): string {
  if (keyword === 'enum') return `one of ${[schema].flat().join(', ')}`;
  const type: unknown = parentSchema?.['type'];
  if (type === 'object') return 'a block of keys';
  if (type === 'array') return 'a list';
  if (type === 'boolean') return 'true or false';
  if (Array.isArray(parentSchema?.['enum'])) return `one of ${parentSchema['enum'].join(', ')}`;
  return describe(parentSchema) ?? (type === 'string' ? 'text' : String(type));
}

/** Editors show `patternErrorMessage` in place of a message, and `description` as the help text. */
function describe(schema: unknown): string | undefined {
  const { patternErrorMessage, description } = isRecord(schema) ? schema : {};
  const text = patternErrorMessage ?? description;
  return typeof text === 'string' ? text : undefined;
}

function kindOf(data: unknown): string {
  return Array.isArray(data) ? 'a list' : 'a block';
}

function didYouMean(word: string): string {
  return `did you mean ${quote(word)}?`;
}

/** `limits.max_tokens`, `upstreams[2].weight`: the end of a pointer in readable form. */
export function label(pointer: string): string {
  const path = segments(pointer);
  const named = path.findLastIndex((key, i) => i < path.length - 1 && !/^\d+$/.test(key));
  const [first, ...rest] = path.slice(Math.max(named, 0));
  const steps = rest.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`));
  return first === undefined ? 'the file' : first + steps.join('');
}

function extraKey({ params }: ErrorObject): string | undefined {
  const key: unknown = params['additionalProperty'];
  return typeof key === 'string' ? key : undefined;
}

function allowedKeys({ parentSchema }: ErrorObject): string[] {
  const properties: unknown = parentSchema?.['properties'];
  return isRecord(properties) ? Object.keys(properties) : [];
}

/** The block that should contain a key which stands one level too high. */
function homeOf(
  key: string,
  { parentSchema, data }: ErrorObject,
  schema: unknown,
): string | undefined {
  const properties: unknown = parentSchema?.['properties'];
  if (!isRecord(properties)) return undefined;
  const value: unknown = isRecord(data) ? data[key] : undefined;
  return Object.keys(properties).find((name) => {
    const inner = followed(properties[name], schema);
    if (!isRecord(inner['properties']) || !Object.hasOwn(inner['properties'], key)) return false;
    // A list under the name of a number is another thing of the same name.
    return !Array.isArray(value) || wants(followed(inner['properties'][key], schema), 'array');
  });
}
