import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../lib/objects.js';
import {
  exampleOf,
  flow,
  followed,
  requiredOf,
  wants,
  type FileBlock,
  type SubSchema,
} from './schema-walk.js';
import { booleanHint, tidied } from './text-hints.js';

/** A hint for a text in the place of a block: it is most likely the value of a key of the block. */
export function textInBlock(text: string, part: SubSchema, schema: unknown): string | undefined {
  const { properties } = part;
  if (!isRecord(properties)) return undefined;
  if (Object.hasOwn(properties, 'total')) {
    const total = tidied(text, followed(properties.total, schema));
    return total && `write { total: ${total} }`;
  }
  const [, name = '', written] = /^([\w-]+)(?::|\s*=\s*)(\S+)$/.exec(text) ?? [];
  if (written !== undefined && Object.hasOwn(properties, name)) {
    const isSecret = /key|secret|token(?!s)/.test(name);
    return `${isSecret ? 'put a space behind the colon:' : 'write'} ${name}: ${written}`;
  }
  const needed = requiredOf(part);
  const fitting = Object.keys(properties).find((key) => {
    const { enum: words, pattern } = followed(properties[key], schema);
    const isForm = typeof pattern === 'string' && pattern.startsWith('^');
    return isForm ? new RegExp(pattern).test(text) : [words].flat().includes(text);
  });
  const key = needed.length === 1 ? needed[0] : fitting;
  const [, provider, model] = /^([\w-]+)[/:](\S+)$/.exec(text) ?? [];
  if (key === 'provider' && model !== undefined) return `write ${flow({ provider, model })}`;
  if (key === undefined) return undefined;
  // A number stands more likely for another key than for the one that cannot be missing.
  if (wants(followed(properties[key], schema), 'integer')) return suchAs(part, schema);
  return `write { ${key}: ${flow(text)} }`;
}

function suchAs(part: SubSchema, schema: unknown): string | undefined {
  const example = exampleOf(part, schema);
  return example === undefined ? undefined : `such as ${flow(example)}`;
}

/** Words of other programs for `*`. */
const EVERYBODY = /^(?:all|any|anybody|anyone|every|everybody|everyone|public)$/i;

/** A hint for a text in the place of a list: words with commas or spaces between them, or one. */
export function textInList(
  text: string,
  data: unknown,
  part: SubSchema,
  schema: unknown,
): string | undefined {
  if (typeof data === 'boolean') return undefined;
  const items = followed(part.items, schema);
  const isBlock = wants(items, 'object') && !wants(items, 'string');
  const inner = /^\((.*)\)$/.exec(text)?.[1];
  if (inner !== undefined) return textInList(inner, data, part, schema);
  if (/^-\S/.test(text)) {
    const [, first = ''] = /^-([^\s,]+)/.exec(text) ?? [];
    return `a dash needs a space behind it: write "- ${first}"`;
  }
  const between = items.pattern === undefined ? /[,;\s]+/ : /\s*[,;]\s*/;
  const takesStar = new RegExp(String(items.pattern)).test('*') || isExample(part, ['*']);
  if (takesStar && (text === '*' || EVERYBODY.test(text))) return "write ['*']";
  if (text === '*') return 'name each one: * stands for nothing here';
  const words = text.split(between).filter(Boolean);
  if (!isBlock) return `write ${flow(words.map((word) => itemOf(word, items)))}`;
  const [needed] = requiredOf(items);
  if (needed === undefined || words.length !== 1) return 'begin each entry of the list with "- "';
  return `write ${flow(words.map((word) => ({ [needed]: word })))}`;
}

function isExample({ examples }: SubSchema, value: unknown): boolean {
  return Array.isArray(examples) && examples.some((one) => isDeepStrictEqual(one, value));
}

/** A word as an item of the list: `@example.org` for a domain, an origin without its slash. */
function itemOf(text: string, items: SubSchema): string {
  const { pattern } = items;
  const word = /^https?:/.test(text) ? text.replace(/\/+$/, '') : text;
  const fits = typeof pattern !== 'string' || new RegExp(pattern, 'u').test(word);
  return fits ? word : (tidied(word, items) ?? word);
}

/** A hint for a list in the place of a value or block, or for a block in the place of those. */
export function structureHint(
  data: unknown,
  part: SubSchema,
  schema: unknown,
  isFlow = false,
): string | undefined {
  if (Array.isArray(data)) {
    // An empty list, or one with an item twice.
    if (wants(part, 'array')) return undefined;
    return wants(part, 'object') ? listInBlock(data, part, schema) : listInScalar(data);
  }
  if (!isRecord(data)) return undefined;
  if (wants(part, 'array')) return blockInList(data, part, schema, isFlow);
  if (wants(part, 'string') && typeof data.port === 'number') return addressOf(data);
  return wants(part, 'boolean') ? blockInBoolean(data) : undefined;
}

/** A hint for a block such as `{ enabled: true }` in the place of true or false. */
function blockInBoolean({ enabled, disabled }: FileBlock): string {
  if (typeof enabled === 'boolean') return `write ${enabled}`;
  if (typeof disabled === 'boolean') return `write ${!disabled}`;
  const written = typeof enabled === 'string' ? booleanHint(enabled, enabled) : undefined;
  return written ?? 'write true or false: it has no keys of its own';
}

function blockInList(data: FileBlock, part: SubSchema, schema: unknown, isFlow: boolean): string {
  const items = followed(part.items, schema);
  const values = Object.values(data);
  const isFlags = values.every((value) => typeof value === 'boolean');
  const [inner] = values;
  const isInner = values.length === 1 && Array.isArray(inner) && !wants(items, 'object');
  if (isInner) return `write ${flow(inner)}`;
  const named = upstreamsOf(data, items);
  if (named !== undefined) return `write ${named}`;
  const isWords = wants(items, 'string') || Array.isArray(items.enum);
  const isTexts = values.length > 0 && values.every((one) => typeof one === 'string');
  if (isWords && isTexts && isFlow) return `write ${flow(values)}`;
  const [[key, value] = ['', undefined]] = Object.entries(data);
  const isShort = typeof value === 'string' && value.length <= 40 && !/key|secret/.test(key);
  const isMore = Object.keys(data).length > 1;
  const below = isMore ? ', and indent the lines below it by two more' : '';
  const such = isShort && !isWords ? `: write "- ${key}: ${flow(value)}"${below}` : '';
  const isLine = isFlow && !isFlags && JSON.stringify(data).length <= 60;
  if (isLine) return `begin each entry of the list with "- ", or write [${flow(data)}]`;
  if (!isFlags || !isWords) return `begin each entry of the list with "- "${such}`;
  return `write ${flow(Object.keys(data).filter((key) => data[key] === true))}`;
}

/** A list of upstreams for a block of models by their providers. */
function upstreamsOf(data: FileBlock, items: SubSchema): string | undefined {
  const { properties } = items;
  if (!isRecord(properties) || !Object.hasOwn(properties, 'provider')) return undefined;
  const entries = Object.entries(data);
  const isNames = entries.every(
    ([key, value]) => typeof value === 'string' && !Object.hasOwn(properties, key),
  );
  if (!isNames || entries.length === 0) return undefined;
  return flow(entries.map(([provider, model]) => ({ provider, model })));
}

function listInScalar(data: readonly unknown[]): string {
  const more = 'only one value can stand here: another one needs an entry of its own';
  return data.length === 1 ? 'remove the brackets' : more;
}

function listInBlock(
  data: readonly unknown[],
  part: SubSchema,
  schema: unknown,
): string | undefined {
  const { properties, additionalProperties } = part;
  const [first] = data;
  if (isRecord(additionalProperties) && !isRecord(properties)) {
    const entry = followed(additionalProperties, schema);
    return wants(entry, 'array') ? listWithoutName(data, part, schema) : listOfEntries(data, entry);
  }
  if (!isRecord(properties)) return undefined;
  if (isRecord(first)) return 'remove the "- " before its keys';
  const lists = Object.entries(properties).flatMap(([key, one]) => {
    const { type, items } = followed(one, schema);
    return type === 'array' ? [{ key, item: followed(items, schema) }] : [];
  });
  const isForm = (pattern: unknown, one: unknown): boolean =>
    typeof pattern === 'string' && typeof one === 'string' && new RegExp(pattern, 'u').test(one);
  // A key that lists its words before one that takes any.
  const found =
    lists.find(({ item }) => data.every((one) => [item.enum].flat().includes(one))) ??
    lists.find(({ item }) => data.every((one) => isForm(item.pattern, one)));
  return found && `write { ${found.key}: ${flow(data)} }`;
}

/** A hint for a list without its name, where a block of named lists is wanted. */
function listWithoutName(data: readonly unknown[], part: SubSchema, schema: unknown): string {
  const example = exampleOf(part, schema);
  const [name = 'NAME'] = Object.keys(isRecord(example) ? example : {});
  return `it takes ${String(part.patternErrorMessage)}: write { ${name}: ${flow(data)} }`;
}

/** Keys under which other programs write the name of an entry. */
const NAMES = ['name', 'model_name', 'id', 'model'];

function listOfEntries([first, second, ...others]: readonly unknown[], entry: SubSchema): string {
  if (typeof first === 'string') {
    const [, name, value] = /^([\w-]+): (.+)$/.exec(first) ?? [];
    if (name !== undefined && !wants(entry, 'object')) return `write { ${name}: ${flow(value)} }`;
    if (!wants(entry, 'object')) return `write { ${flow(first)}: ${flow(second ?? 'NAME')} }`;
    const [needed] = requiredOf(entry);
    return `write ${flow(first)}: ${flow(needed === undefined ? {} : { [needed]: first })}`;
  }
  return (
    namedEntry(first, undefined, [second, ...others]) ??
    'write NAME: { ... } for each entry, without "- "'
  );
}

/** The hint for a list whose entries have their names in a key of their own. */
export function namedEntry(
  first: unknown,
  part?: SubSchema,
  others: readonly unknown[] = [],
): string | undefined {
  const block = isRecord(first) ? first : {};
  const key = NAMES.find((one) => typeof block[one] === 'string');
  if (key === undefined || (part && isRecord(part.properties))) return undefined;
  const name = flow(block[key]);
  const names = others.map((one) => (isRecord(one) ? one[key] : undefined));
  const more = names.filter((one) => typeof one === 'string').map(flow);
  const same = more.length === 0 ? '' : `; the same for ${more.slice(0, 3).join(', ')}`;
  return `write "${name}:" in place of "- ${key}: ${name}", and indent the rest below it${same}`;
}

/** The hint for a block with host and port in the place of an address. */
function addressOf({ host, address, bind, port }: FileBlock): string {
  const names = [host, address, bind].filter((one) => typeof one === 'string');
  return `write ${String(names[0] ?? '127.0.0.1')}:${String(port)}`;
}
