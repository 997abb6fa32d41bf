import type { ErrorObject } from 'ajv/dist/2020.js';
import { isRecord } from '../lib/is-record.js';
import { nearestWord } from './did-you-mean.js';
import { foreignKeyHint } from './foreign-keys.js';
import { pointer as join, quote, segments, type Source, type Wrong } from './source.js';

export interface Explained {
  pointer: string;
  wrong: Wrong;
}

/** The schema's errors in plain English, each with the pointer to its place. */
export function explainAll(
  errors: readonly ErrorObject[],
  source: Source,
  schema: unknown,
): Explained[] {
  const misspelt = new Set(errors.flatMap(misspellings));
  return errors.flatMap((error) => {
    // A misspelt key is reported once: as an unknown key, not also as a missing one.
    const missing: unknown = error.params['missingProperty'];
    if (typeof missing === 'string' && misspelt.has(error.instancePath + join(missing))) return [];
    // A wrong name is reported once: not again by the pattern that it breaks.
    if (error.propertyName !== undefined && error.keyword !== 'propertyNames') return [];
    return [explain(error, source, schema)];
  });
}

function misspellings(error: ErrorObject): string[] {
  const key = extraKey(error);
  const right = key === undefined ? undefined : nearestWord(key, allowedKeys(error));
  return right === undefined ? [] : [error.instancePath + join(right)];
}

function explain(error: ErrorObject, source: Source, schema: unknown): Explained {
  const { keyword, instancePath: pointer, params } = error;
  const key = extraKey(error);
  if (key !== undefined) return unknownKey(error, key, schema);
  if (keyword === 'propertyNames') return badName(error, schema);
  if (keyword === 'required' || keyword === 'dependentRequired') return missingKey(error);
  if (error.data === null) {
    const message = `${label(pointer)} is empty; it should be ${wanted(error)}`;
    return { pointer, wrong: { code: 'empty', message, at: 'key' } };
  }
  if (keyword === 'uniqueItems') {
    const later = pointer + join(Math.max(Number(params['i']), Number(params['j'])));
    const message = `${label(pointer)} has ${source.word(later)} twice`;
    return { pointer: later, wrong: { code: 'duplicate_value', message, hint: 'remove one' } };
  }
  if (EMPTY.has(keyword)) {
    const hint = keyword === 'minLength' ? `it should be ${wanted(error)}` : 'add at least one';
    return { pointer, wrong: { code: 'empty', message: `${label(pointer)} is empty`, hint } };
  }
  return { pointer, wrong: wrongValue(error, source) };
}

const EMPTY = new Set(['minItems', 'minLength', 'minProperties']);

function unknownKey(error: ErrorObject, key: string, schema: unknown): Explained {
  const allowed = allowedKeys(error);
  const near = nearestWord(key, allowed);
  const home = homeOf(key, error, schema);
  let hint = allowed.length > 0 ? `allowed here: ${allowed.join(', ')}` : '';
  const foreign = foreignKeyHint(key);
  if (foreign !== undefined) hint = foreign;
  else if (near !== undefined) hint = didYouMean(near);
  else if (home !== undefined) hint = `it belongs under ${quote(home)}`;
  const message = `unknown key ${quote(key)}`;
  return {
    pointer: error.instancePath + join(key),
    wrong: { code: 'unknown_key', message, hint, at: 'key' },
  };
}

function missingKey({ instancePath: pointer, params }: ErrorObject): Explained {
  const missing = quote(String(params['missingProperty']));
  const where = pointer === '' ? 'the file' : label(pointer);
  return {
    pointer,
    wrong: { code: 'missing_key', message: `${where} is missing the key ${missing}` },
  };
}

function badName(error: ErrorObject, schema: unknown): Explained {
  const name = String(error.params['propertyName']);
  const message = `${quote(name)} is not ${describe(followed(error.schema, schema)) ?? 'a name'}`;
  return {
    pointer: error.instancePath + join(name),
    wrong: { code: 'bad_name', message, at: 'key' },
  };
}

function wrongValue(error: ErrorObject, source: Source): Wrong {
  const { keyword, instancePath: pointer, parentSchema, data } = error;
  const secret = parentSchema?.['writeOnly'] === true;
  const scalar = typeof data !== 'object';
  let word = scalar ? source.word(pointer) : kindOf(data);
  if (secret) word = 'its value';
  const message = `${label(pointer)}: ${word} is not ${wanted(error)}`;
  const code = keyword === 'type' ? 'wrong_type' : 'wrong_value';
  if (secret || source.hides(pointer)) return { code, message, hint: '' };
  return { code, message, hint: scalar ? hintFor(error) : blockHint(error) };
}

/** A block where a list of blocks is wanted has only lost its dashes. */
function blockHint({ keyword, parentSchema, data }: ErrorObject): string {
  const isList = keyword === 'type' && parentSchema?.['type'] === 'array';
  return isList && isRecord(data) ? 'begin each entry of the list with "- "' : '';
}

function hintFor({ keyword, schema, parentSchema, data }: ErrorObject): string {
  const words = keyword === 'enum' ? [schema].flat() : wordsIn(parentSchema?.['pattern']);
  const near = nearestWord(String(data), words.map(String));
  const tidy = near ?? tidied(String(data), parentSchema);
  if (tidy !== undefined) return didYouMean(tidy);
  const type: unknown = parentSchema?.['type'];
  if (keyword === 'type' && isNumber(type) && /^\d+(\.\d+)?$/.test(String(data))) {
    return 'remove the quotes';
  }
  if (type === 'object' && isRecord(parentSchema?.['properties'])) {
    return blockOf(String(data), parentSchema['properties']);
  }
  if (type === 'array') return /^[\w.-]+$/.test(String(data)) ? `write [${String(data)}]` : '';
  const name = keyword === 'type' && type === 'string' && !parentSchema?.['pattern'];
  return name ? 'put it in quotes' : '';
}

/** The words of a pattern that is made of words alone, such as `^(free|list)$`. */
function wordsIn(pattern: unknown): string[] {
  const [, words] = /^\^\(?([a-z|-]+)\)?\$$/.exec(String(pattern)) ?? [];
  return words?.split('|') ?? [];
}

function isNumber(type: unknown): boolean {
  return [type].flat().some((one) => one === 'integer' || one === 'number');
}

/** A time where a block of times is wanted, as for `timeout`. */
function blockOf(text: string, properties: Record<string, unknown>): string {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  if (number === undefined || !Object.hasOwn(properties, 'total')) return '';
  return `write { total: ${number}${unit} }`;
}

/** A duration or size in other letters: `30 sec` or `20MB`. */
function tidied(text: string, schema: ErrorObject['parentSchema']): string | undefined {
  const pattern: unknown = schema?.['pattern'];
  if (typeof pattern !== 'string') return undefined;
  const [, number, unit = ''] = /^\s*([\d.]+)\s*([A-Za-z]*)\s*$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  const low = unit.toLowerCase();
  // A number without a unit must mean seconds: for sizes there is no such usual unit.
  const bare = low === '' ? ['s'] : [low.replace(/i?b?$/, 'b'), low.slice(0, 1)];
  const units = [low, low.startsWith('mil') || low === 'msec' ? 'ms' : low, ...bare];
  return units.map((one) => number + one).find((one) => new RegExp(pattern).test(one));
}

function wanted({ keyword, schema, parentSchema }: ErrorObject): string {
  if (keyword === 'enum') return `one of ${[schema].flat().join(', ')}`;
  const type: unknown = parentSchema?.['type'];
  if (type === 'object') return 'a block of keys';
  if (type === 'array') return 'a list';
  if (Array.isArray(parentSchema?.['enum'])) return `one of ${parentSchema['enum'].join(', ')}`;
  return describe(parentSchema) ?? (type === 'string' ? 'text' : String(type));
}

/** An editor shows the same words as the whole message; `description` is for those who read. */
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
function homeOf(key: string, { parentSchema }: ErrorObject, schema: unknown): string | undefined {
  const properties: unknown = parentSchema?.['properties'];
  if (!isRecord(properties)) return undefined;
  return Object.keys(properties).find((name) => {
    const inner = followed(properties[name], schema);
    const keys = isRecord(inner) ? inner['properties'] : undefined;
    return isRecord(keys) && Object.hasOwn(keys, key);
  });
}

function followed(part: unknown, schema: unknown): unknown {
  const reference = isRecord(part) ? part['$ref'] : undefined;
  if (typeof reference !== 'string') return part;
  return segments(reference).reduce((at, key) => (isRecord(at) ? at[key] : undefined), schema);
}
