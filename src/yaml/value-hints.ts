import type { ErrorObject } from 'ajv/dist/2020.js';
import { isRecord } from '../lib/objects.js';
import { keyHint } from './key-hints.js';
import { exampleOf, flow, schemaAt, wants, type FileBlock, type SubSchema } from './schema-walk.js';
import { namedEntry, structureHint, textInBlock, textInList } from './shape-hints.js';
import { pointer as join, quote, segments, type Source } from './source.js';
import { booleanHint, numberHint, tidied, wordHint, type Scalar } from './text-hints.js';

/** The hint for a wrong value: the value that was most likely meant, else an example. */
export function valueHint(error: ErrorObject, source: Source, schema: unknown): string {
  const { instancePath: pointer, data } = error;
  if (pointer === '') return rootHint(data);
  const part = schemaAt(schema, pointer);
  const written = source.text(pointer) ?? '';
  const first: unknown = Array.isArray(data) ? data[0] : written;
  let hint = typeof first === 'string' ? keyHint(first, pointer, part) : undefined;
  if (hint !== undefined) return hint;
  if (error.keyword === 'maxProperties' && isRecord(data)) return stageHint(data);
  if (isExpression(pointer, written))
    return `an expression of your own stands under also: ['${written}']`;
  const alias = aliasHint(source, pointer, written);
  if (alias !== undefined) return alias;
  if (typeof data !== 'object') hint = scalarHint(written, { error, part, schema, written });
  else if (!source.hidesWithin(pointer))
    hint = structureHint(data, part, schema, isFlow(source, pointer));
  else if (Array.isArray(data)) hint = namedEntry(data[0], part);
  return hint ?? exampleHint(part, schema);
}

/** Whether a regular expression stands among the names of patterns. */
function isExpression(pointer: string, written: string): boolean {
  return /\/patterns\/\d+$/.test(pointer) && /[\\[\](){}.*+?|^$]/.test(written);
}

/** The hint for a stage with several keys: its option is not indented, or a dash is missing. */
function stageHint(data: FileBlock): string {
  const [[name, first] = ['', null], ...others] = Object.entries(data);
  if (first !== null) return 'begin each stage with a "- " of its own';
  return `write ${name}: ${flow(Object.fromEntries(others))}`;
}

/** The hint for a model that has the name of another one as its value. */
function aliasHint(source: Source, at: string, text: string): string | undefined {
  const [block, name, further] = segments(at);
  const isOther = source.keys('/models')?.includes(text) === true && name !== text;
  if (block !== 'models' || name === undefined || further !== undefined || !isOther)
    return undefined;
  const anchor = `"${text}: &same"`;
  return `a second name repeats the entry: write ${anchor} there, and "${name}: *same" below it`;
}

/** Whether a block is written between { and } on the line of its key. */
function isFlow(source: Source, pointer: string): boolean {
  return /^[^:#]+:\s*\{/.test(source.lineOf(pointer));
}

/** The hint for a value that no message may show: it came from a variable, or is a secret. */
export function hiddenHint({ instancePath, data }: ErrorObject, source: Source, schema: unknown) {
  const part = schemaAt(schema, instancePath);
  if (!source.hides(instancePath)) return typeof data === 'number' ? 'put it in quotes' : '';
  const { properties } = part;
  if (isRecord(properties) && Object.hasOwn(properties, 'api_key')) {
    return `write { api_key: ${source.word(instancePath)} }`;
  }
  const example = exampleOf(part, schema);
  if (typeof example === 'object') return `such as ${flow(example)}`;
  if (example === undefined) return '';
  // An example that is a variable itself would explain nothing.
  if (typeof example === 'string' && example.includes('${')) {
    return 'set its variable to such a value';
  }
  return `set its variable to a value such as ${flow(example)}`;
}

/** The hint for a file without keys, such as one of another program. */
function rootHint(data: unknown): string {
  const advice = 'tollgate init writes a gateway.yaml';
  if (Array.isArray(data)) return `remove the "- " before its keys, as in "models:"; ${advice}`;
  const text = String(data);
  if (/^\s*(?:\[[\w."-]+\]|[\w.-]+\s*=)/m.test(text)) {
    return `YAML is written "KEY: VALUE", not "KEY = VALUE"; ${advice}`;
  }
  return `its lines look like "KEY: VALUE"; ${advice}`;
}

/** The hint for a key without a value. */
export function emptyHint(source: Source, pointer: string, schema: unknown): string {
  const part = schemaAt(schema, pointer);
  const key = segments(pointer).at(-1) ?? '';
  if (/^[^\s:]+:\s+#\S/.test(source.lineOf(pointer))) {
    return 'put the value in quotes: a # begins a comment';
  }
  const below = keysBelow(source, pointer, part);
  if (below !== undefined) return below;
  const example = exampleOf(part, schema);
  const isBlock = wants(part, 'object') && !wants(part, 'string') && example === undefined;
  if (isBlock) {
    const variable = key.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
    const hasKey = isRecord(part.properties) && 'api_key' in part.properties;
    const first = hasKey ? `, such as api_key: '\${${variable}_API_KEY}'` : '';
    return `indent its keys below it${first}; where it needs none write ${flow(key)}: {}`;
  }
  const line = example === undefined ? '' : `write ${flow(key)}: ${flow(example)}`;
  if (/^\d+$/.test(key)) return 'remove this "-"';
  return line === '' ? 'remove the line' : `${line}, or remove the line`;
}

/** The hint for a block whose keys stand below it, but are not indented. */
function keysBelow(source: Source, pointer: string, { properties }: SubSchema): string | undefined {
  const keys = source.keys(pointer.slice(0, pointer.lastIndexOf('/'))) ?? [];
  const own = segments(pointer).at(-1) ?? '';
  const below = keys.slice(keys.indexOf(own) + 1);
  const count = below.findIndex((key) => !isRecord(properties) || !Object.hasOwn(properties, key));
  const strays = count < 0 ? below : below.slice(0, count);
  return strays.length === 0 ? undefined : `indent ${strays.join(' and ')} below it`;
}

/** Keys whose values are names, with the blocks that define the names. */
const NAMED_IN: Readonly<Record<string, string>> = { owner: '/owners', provider: '/providers' };

/** The hint for a block that lacks a key: the key with a value that it may have. */
export function missingHint(source: Source, at: string, key: string, schema: unknown): string {
  if (isStray(source, at)) return 'remove the "- " before it, if it belongs to the entry above';
  const block = NAMED_IN[key];
  const [name] = (block === undefined ? undefined : source.keys(block)) ?? [];
  const server = key === 'provider' ? providerOf(source, at) : undefined;
  const example = server ?? name ?? exampleOf(schemaAt(schema, `${at}/${key}`), schema);
  return example === undefined ? `add ${key}` : `add it, such as ${key}: ${flow(example)}`;
}

/** The provider of the model that an upstream names, by the entry of that model. */
function providerOf(source: Source, at: string): string | undefined {
  const model = source.text(`${at}/model`);
  if (model === undefined || source.hides(`${at}/model`)) return undefined;
  return source.text(join('models', model, 'upstreams', 0, 'provider'));
}

/**
 * An upstream written as `- NAME: { model: ID }`, with its name where it belongs; undefined unless
 * `key` is the name of a provider and the entry names none.
 */
export function namedUpstream(
  { data, parentSchema, instancePath }: ErrorObject,
  key: string,
  source: Source,
) {
  const isUpstream = parentSchema?.['x-type'] === 'UpstreamEntry';
  const isNamed = !isRecord(data) || Object.hasOwn(data, 'provider');
  if (!isUpstream || isNamed || source.keys('/providers')?.includes(key) !== true) return undefined;
  const inner = data[key];
  const model = typeof inner === 'string' ? { model: inner } : {};
  const entry = flow({ provider: key, ...(isRecord(inner) ? inner : model) });
  const isShort = entry.length <= 80 && !source.hidesWithin(instancePath);
  return isShort ? entry : `{ ${flow('provider')}: ${flow(key)}, model: ID }`;
}

/** Whether an item of a list shares no key with the item before: its dash is one too many. */
function isStray(source: Source, at: string): boolean {
  const [, list, index] = /^(.*)\/([1-9]\d*)$/.exec(at) ?? [];
  if (index === undefined || source.lineOf(at).startsWith('{')) return false;
  const before = source.keys(`${list}/${Number(index) - 1}`) ?? [];
  const own = source.keys(at) ?? [];
  return before.length > 0 && own.length > 0 && !own.some((key) => before.includes(key));
}

function exampleHint(part: SubSchema, schema: unknown): string {
  const example = exampleOf(part, schema);
  return example === undefined ? '' : `such as ${flow(example)}`;
}

const ENDLESS = /^(?:forever|never|always|unlimited|infinite|infinity|none|off|-1)$/i;

function scalarHint(text: string, scalar: Scalar): string | undefined {
  const { part, schema, error } = scalar;
  const [, variable] = /^\$\(?([A-Za-z_]\w*)\)?$/.exec(text) ?? [];
  if (variable !== undefined) return `write "\${${variable}}"`;
  const word = wordHint(text, part);
  if (word !== undefined) return word;
  if (wants(part, 'boolean')) return booleanHint(text, error.data);
  if (wants(part, 'integer') || wants(part, 'number')) {
    const number = numberHint(text, scalar);
    if (number !== undefined) return number;
  }
  const isTime = typeof part.pattern === 'string' && /\bms\b/.test(part.pattern);
  if (isTime && ENDLESS.test(text)) {
    return 'no word stands for a time without end: write a long one, such as 3650d';
  }
  const tidy = tidied(text, part);
  if (tidy !== undefined) return `did you mean ${quote(tidy)}?`;
  if (wants(part, 'object') && typeof error.data !== 'boolean') {
    return textInBlock(text, part, schema);
  }
  if (wants(part, 'array')) return textInList(text, error.data, part, schema);
  const standard = part.default ?? (error.data === true ? exampleOf(part, schema) : undefined);
  if (typeof error.data === 'boolean' && typeof standard === 'string') {
    return `write ${standard}, or remove the line`;
  }
  const isText = wants(part, 'string') && part.pattern === undefined;
  const isName = error.keyword === 'type' && isText && typeof error.data === 'number';
  return isName ? `put it in quotes: '${text}'` : undefined;
}
