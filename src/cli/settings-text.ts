import { isDeepStrictEqual } from 'node:util';
import { parse as parseToml } from 'smol-toml';
import { Document, isMap, isSeq, parseDocument } from 'yaml';
import type { Setting, Settings, SettingsFile } from '../dashboard/coding-agents.js';
import { isRecord } from '../lib/objects.js';
import { shellWord } from '../lib/shell-quote.js';

/** The text of a settings file cannot be changed safely. The message follows the file's name. */
export class UnsafeText extends Error {
  override name = 'UnsafeText';
}

/**
 * The text of a settings file with values put in, and all else as it was: comments too, where the
 * format has them. The same text where it says all of it. Throws `UnsafeText`.
 */
export function withSettings(
  text: string,
  { format, values }: Pick<SettingsFile, 'format' | 'values'>,
): string {
  if (format === 'env') return withVariables(text, values);
  const { parse, change } = FORMATS[format];
  const before = parse(text);
  const wanted = merged(before, values, '');
  if (isDeepStrictEqual(before, wanted)) return text;
  const changed = change(text, values, wanted);
  // Text is changed by its lines, which only the parser understands for sure.
  if (!isDeepStrictEqual(parse(changed), wanted)) {
    throw new UnsafeText('is laid out in a way that cannot be changed safely');
  }
  return changed;
}

/** Lines `NAME=value`, as agents read them from a file `.env`. */
function withVariables(text: string, values: Settings): string {
  const lines = text === '' ? [] : text.replace(/\n$/u, '').split('\n');
  for (const [name, value] of Object.entries(values)) {
    const isLine = (line: string): boolean => line.replace(/^export /u, '').startsWith(`${name}=`);
    const there = lines.findIndex(isLine);
    const line = typeof value === 'string' ? [`${name}=${shellWord(value)}`] : [];
    if (there < 0) lines.push(...line);
    else lines.splice(there, 1, ...line);
  }
  return `${lines.join('\n')}\n`;
}

interface Format {
  /** The object that a text says; an empty one for an empty text. */
  parse: (text: string) => Record<string, unknown>;
  change: (text: string, values: Settings, wanted: Record<string, unknown>) => string;
}

const FORMATS: Readonly<Record<'json' | 'toml' | 'yaml', Format>> = {
  json: {
    parse: (text) => objectOf('JSON', () => (text.trim() === '' ? {} : JSON.parse(text))),
    change: (text, _, wanted) => {
      const [, indent = '  '] = /^[{\s]*\n([ \t]+)"/u.exec(text) ?? [];
      return `${JSON.stringify(wanted, null, indent)}\n`;
    },
  },
  toml: {
    parse: (text) => plainObject(objectOf('TOML', () => parseToml(text))),
    change: changedToml,
  },
  yaml: { parse: (text) => objectOf('YAML', () => yamlOf(text).toJS()), change: changedYaml },
};

function objectOf(format: string, parse: () => unknown): Record<string, unknown> {
  let value: unknown;
  try {
    value = parse();
  } catch {
    throw new UnsafeText(`is no ${format} that can be read`);
  }
  if (!isRecord(value)) throw new UnsafeText(`is no ${format} with names and values`);
  return value;
}

/** The same object as other parsers make it, to be compared. */
function plainObject(value: Record<string, unknown>): Record<string, unknown> {
  const plain = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(plain);
    if (!isRecord(one) || one instanceof Date) return one;
    return Object.fromEntries(Object.entries(one).map(([name, each]) => [name, plain(each)]));
  };
  return plain(value) as Record<string, unknown>;
}

/** What is there with values put in. */
function merged(old: unknown, values: Settings, at: string): Record<string, unknown> {
  if (old !== undefined && old !== null && !isRecord(old)) {
    throw new UnsafeText(`has something else than names and values in "${at}"`);
  }
  const result = { ...old };
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete result[name];
    else if (Array.isArray(value)) result[name] = mergedList(result[name], value, name);
    else if (isRecord(value)) result[name] = merged(result[name], value as Settings, name);
    else result[name] = value;
  }
  return result;
}

/** Entries that are new come first, since agents take the first for the usual one. */
function mergedList(old: unknown, values: readonly Settings[], at: string): unknown[] {
  if (old !== undefined && old !== null && !Array.isArray(old)) {
    throw new UnsafeText(`has no list in "${at}"`);
  }
  const list: unknown[] = [...((old as unknown[] | undefined) ?? [])];
  for (const value of values) {
    const there = placeOf(list, value);
    if (there < 0) list.unshift(value);
    else list[there] = value;
  }
  return list;
}

function placeOf(list: readonly unknown[], { name }: Settings): number {
  return list.findIndex((each) => isRecord(each) && each.name === name);
}

function yamlOf(text: string): Document {
  const document = parseDocument(text);
  if (document.errors.length > 0) throw new UnsafeText('');
  return document.contents === null ? new Document({}) : document;
}

function changedYaml(text: string, values: Settings): string {
  const document = yamlOf(text);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) document.delete(name);
    else if (Array.isArray(value)) changeYamlList(document, name, value);
    else document.set(name, value);
  }
  return document.toString({ lineWidth: 0 });
}

function changeYamlList(document: Document, name: string, values: readonly Settings[]): void {
  const list = document.get(name);
  if (!isSeq(list)) return document.set(name, document.createNode(values));
  for (const value of values) {
    const node = document.createNode(value);
    const there = list.items.findIndex((item) => isMap(item) && item.get('name') === value.name);
    if (there < 0) list.items.unshift(node);
    else list.items[there] = node;
  }
}

/** Changes single lines: a text made anew would have no comments. */
function changedToml(text: string, values: Settings): string {
  const lines = text.replace(/\n$/u, '').split('\n');
  for (const [path, own] of tablesIn(values, '')) {
    if (path !== '' && !lines.includes(`[${path}]`)) lines.push('', `[${path}]`);
    for (const [name, value] of own) changeTomlLine(lines, path, [name, value]);
  }
  return `${lines.join('\n').replace(/^\n+/u, '')}\n`;
}

type Entry = [name: string, value: Setting];

/** The values of each table that has some of its own, by the table's path. */
function tablesIn(values: Settings, path: string): [string, Entry[]][] {
  const entries = Object.entries(values);
  const own = entries.filter(([, value]) => !isRecord(value));
  const within = entries.flatMap(([name, value]) =>
    isRecord(value) ? tablesIn(value as Settings, path === '' ? name : `${path}.${name}`) : [],
  );
  return own.length > 0 ? [[path, own], ...within] : within;
}

function changeTomlLine(lines: string[], path: string, [name, value]: Entry): void {
  const start = path === '' ? 0 : lines.indexOf(`[${path}]`) + 1;
  const next = lines.findIndex((line, at) => at >= start && /^\s*\[/u.test(line));
  const end = next < 0 ? lines.length : next;
  const there = lines.findIndex(
    (line, at) => at >= start && at < end && /^\s*([\w-]+)\s*=/u.exec(line)?.[1] === name,
  );
  const line = value === undefined ? [] : [`${name} = ${JSON.stringify(value)}`];
  if (there >= 0) lines.splice(there, 1, ...line);
  else
    lines.splice(lines.findLastIndex((each, at) => at < end && each.trim() !== '') + 1, 0, ...line);
}
