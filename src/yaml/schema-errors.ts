import type { ErrorObject } from 'ajv/dist/2020.js';
import { isRecord } from '../lib/objects.js';
import { nearestWord } from './did-you-mean.js';
import { requiredFor } from './foreign.js';
import { isCausedBy, misplaced, misplacedFaults, type Explained } from './misplaced.js';
import { followed } from './schema-walk.js';
import { pointer as join, label, quote, type Source, type FaultDetails } from './source.js';
import { allowedKeys, extraKey, isCoveredByHome, unknownKey } from './unknown-keys.js';
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
    const missing: unknown = error.params.missingProperty;
    if (typeof missing === 'string' && misspelt.has(error.instancePath + join(missing))) return [];
    if (isMethodOfPath(error) || isCoveredByHome(error, schema)) return [];
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
  const isEndpoint = parentSchema?.['x-type'] === 'EndpointBlock';
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
    const later = pointer + join(Math.max(Number(params.i), Number(params.j)));
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
  const type: unknown = error.parentSchema?.type;
  const stands = keyword === 'type' && (type === 'object' || type === 'array');
  return { pointer, wrong: wrongValue(error, source, schema), stands };
}

const EMPTY = new Set(['minItems', 'minLength', 'minProperties']);

function missingKey(error: ErrorObject, source: Source, schema: unknown): Explained {
  const { instancePath: pointer, params } = error;
  const missing = String(params.missingProperty);
  const where = pointer === '' ? 'the file' : label(pointer);
  const message = `${where} is missing the key ${quote(missing)}`;
  const hint = missingHint(source, pointer, missing, schema);
  return { pointer, wrong: { code: 'missing_key', message, hint, at: 'key' } };
}

function badName(error: ErrorObject, schema: unknown): Explained {
  const name = String(error.params.propertyName);
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
  const secret = parentSchema?.writeOnly === true;
  const scalar = typeof data !== 'object';
  let word = scalar ? source.word(pointer) : kindOf(data);
  if (secret) word = 'its value';
  const message =
    pointer === ''
      ? `the file is ${scalar ? 'one text' : word}, without keys and values`
      : `${label(pointer)}: ${word} ${isBeyond(error) ? 'is out of range:' : 'is not'} ` +
        wanted(error);
  const code = keyword === 'type' ? 'wrong_type' : 'wrong_value';
  // A hint made from a secret could show a part of it, so such a hint describes the form alone.
  const isHidden = scalar && (secret || source.hides(pointer));
  const hint = isHidden ? hiddenHint(error, source, schema) : valueHint(error, source, schema);
  // One example is enough: the message may have one already.
  const isEcho = hint.startsWith('such as') && message.includes('such as');
  return { code, message, hint: isEcho ? '' : hint };
}

/** Whether a number is of the right kind, and only too small or too large. */
function isBeyond({ keyword, data }: ErrorObject): boolean {
  return Number.isInteger(data) && Number(data) >= 0 && /^(?:min|max)imum$/.test(keyword);
}

function wanted({ keyword, schema, parentSchema }: ErrorObject): string {
  if (keyword === 'enum') return `one of ${[schema].flat().join(', ')}`;
  const type: unknown = parentSchema?.type;
  if (type === 'object') return 'a block of keys';
  if (type === 'array') return 'a list';
  if (type === 'boolean') return 'true or false';
  if (Array.isArray(parentSchema?.enum)) return `one of ${parentSchema.enum.join(', ')}`;
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
