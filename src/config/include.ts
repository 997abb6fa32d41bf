import { dirname, join as joinPath, normalize } from 'node:path';
import { findFiles, isPattern } from '../lib/glob.js';
import { isBackup, isForeign, reportForeign } from './include-foreign.js';
import { RELATIVE, nearPattern, patternHint } from './include-hints.js';
import { isRecord } from '../lib/objects.js';
import { nameHint } from '../yaml/did-you-mean.js';
import { type ExpansionContext, MAX_VALUES } from '../yaml/expand.js';
import { BLOCKS } from '../yaml/misplaced.js';
import { parse } from '../yaml/parse.js';
import { readRegular } from '../yaml/regular-file.js';
import { Report } from '../yaml/report.js';
import { isExtension, pointer as join, quote, type Source } from '../yaml/source.js';
import { unreadable } from '../yaml/unreadable.js';
import { readShippedSchema } from '../lib/schemas.js';

export const MAX_FILES = 500;
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** The files that are read at the same time: few, so that their texts fit into memory. */
const READ_AT_ONCE = 16;

/**
 * Reads the files that `include` names and adds their entries to `source`, as if they stood in it.
 * Faults go to the report.
 */
export async function includeFiles(source: Source, context: ExpansionContext): Promise<void> {
  const patterns = isRecord(source.value) ? source.value.include : undefined;
  if (!Array.isArray(patterns)) {
    // What stands in the files of a text in its place is not missing.
    if (typeof patterns === 'string') source.complete = false;
    if (!source.complete) addEmptyBlocks(source);
    return;
  }
  const files = await filesOf(source, patterns);
  const budget = { left: MAX_VALUES };
  const foreign = new Map<string, string[]>();
  let characters = 0;
  for await (const { file, pointer, text, error } of readAhead([...files])) {
    if (isBackup(file) && source.text(pointer)?.includes('*')) {
      foreign.set(pointer, [...(foreign.get(pointer) ?? []), file]);
      source.complete = false;
      continue;
    }
    if (text === undefined) reportUnreadable(source, pointer, unreadable(file, error));
    characters += text?.length ?? 0;
    if (characters > MAX_CHARACTERS) {
      const message = 'the included files are larger than 16 MB together';
      source.fault(pointer, { code: 'too_large', message });
      source.complete = false;
      break;
    }
    const part = text !== undefined && parse(file, text, source.report, { ...context, budget });
    if (!part || !part.readable) source.complete = false;
    else if (isForeign(part)) foreign.set(pointer, [...(foreign.get(pointer) ?? []), file]);
    else merge(source, part);
  }
  for (const [pointer, names] of foreign) reportForeign(source, pointer, names);
  if (!source.complete) addEmptyBlocks(source);
}

/** The files that a configuration includes, and the folders where further ones may appear. */
export interface Watched {
  files: string[];
  folders: string[];
}

/** The files that these patterns of `include` in `main` match now. */
export async function watchedBy(main: string, patterns: readonly string[]): Promise<Watched> {
  const folder = dirname(main);
  const found = await Promise.all(patterns.map((pattern) => findFiles(folder, pattern)));
  const below = (names: readonly string[]): string[] =>
    [...new Set(names)].map((name) => joinPath(folder, name));
  return {
    files: below(found.flatMap(({ files }) => files)),
    folders: below(found.flatMap(({ folders }) => folders)),
  };
}

/** The patterns under `include` of a file; none where it cannot be read. */
export async function patternsIn(main: string): Promise<string[]> {
  const text = await readRegular(main).catch(() => '');
  // Parsing takes a while, and most files include nothing.
  if (!text.includes('include')) return [];
  const context = { env: undefined, directory: dirname(main) };
  const source = parse(main, text, new Report(), context);
  const patterns = isRecord(source.value) ? source.value.include : undefined;
  if (!Array.isArray(patterns)) return [];
  return patterns.filter((one): one is string => typeof one === 'string' && isPattern(one));
}

/** The files of all patterns, each once, with the pointer of the first pattern that matches it. */
async function filesOf(source: Source, patterns: readonly unknown[]): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const [i, pattern] of patterns.entries()) {
    const pointer = `/include${join(i)}`;
    // The schema refuses any other value.
    if (typeof pattern !== 'string' || pattern === '') continue;
    if (!isPattern(pattern) || source.hides(pointer)) {
      source.complete = false;
      const message = `include: ${source.word(pointer)} is no pattern of files below this folder`;
      const hint = source.hides(pointer) ? RELATIVE : await patternHint(pattern, source.file);
      source.fault(pointer, { code: 'bad_include', message, hint });
      continue;
    }
    const found = await includedBy(source.file, pattern);
    if (found.length === 0) {
      source.complete = false;
      await reportNone(source, pointer, pattern);
    }
    for (const file of found) if (!files.has(file)) files.set(file, pointer);
    if (files.size > MAX_FILES) {
      const message = `the patterns up to ${source.word(pointer)} match over ${MAX_FILES} files`;
      source.fault(pointer, { code: 'too_large', message });
      return new Map();
    }
  }
  return files;
}

/** The files of a pattern, without the main file. Paths begin like that of the main file. */
async function includedBy(main: string, pattern: string): Promise<string[]> {
  const folder = dirname(main);
  const { files } = await findFiles(folder, pattern);
  return files.map((file) => joinPath(folder, file)).filter((file) => file !== normalize(main));
}

async function reportNone(source: Source, pointer: string, pattern: string): Promise<void> {
  const near = await nearPattern(dirname(source.file), pattern);
  const message = `include: no file matches ${source.word(pointer)}`;
  const hint = near
    ? `did you mean ${quote(near)}?`
    : 'a pattern is relative to the folder of this file, and no file is there yet';
  source.fault(pointer, { code: 'no_such_file', message, hint });
}

interface IncludedFile {
  file: string;
  /** The pointer of the pattern that matches it. */
  pointer: string;
  /** Undefined where it could not be read. */
  text?: string;
  error?: unknown;
}

/** The files with their texts, in their order. Reads a batch at a time, which is faster. */
async function* readAhead(
  files: readonly [file: string, pointer: string][],
): AsyncGenerator<IncludedFile> {
  for (let at = 0; at < files.length; at += READ_AT_ONCE) {
    const batch = files.slice(at, at + READ_AT_ONCE);
    yield* await Promise.all(batch.map(([file, pointer]) => readPart(file, pointer)));
  }
}

async function readPart(file: string, pointer: string): Promise<IncludedFile> {
  try {
    return { file, pointer, text: await readRegular(file) };
  } catch (error) {
    return { file, pointer, error };
  }
}

function reportUnreadable(source: Source, pointer: string, { message }: Error): void {
  source.fault(pointer, { code: 'unreadable_file', message: `include: ${message}` });
}

/** Adds the entries of a file to those of the main one. */
function merge(source: Source, part: Source): void {
  if (!isRecord(source.value)) return;
  if (!isRecord(part.value)) {
    const message = `an included file is a block of keys: ${BLOCKS.join(', ')}`;
    part.fault('', { code: 'wrong_type', message });
    return;
  }
  for (const [name, block] of Object.entries(part.value)) {
    if (isExtension(join(name))) continue;
    if (!BLOCKS.includes(name)) {
      reportOther(part, name);
      // It may be an entry of one of the blocks, which then is not missing.
      source.complete = false;
    } else if (!isRecord(block)) reportNoBlock(part, name, block);
    else mergeBlock(source, part, name, block);
  }
  for (const pointer of part.invalid_pointers) {
    if (source.mark(pointer)?.from === part) source.invalid_pointers.add(pointer);
  }
}

function mergeBlock(source: Source, part: Source, name: string, block: object): void {
  const own = source.value as Record<string, unknown>;
  // An empty block in the main file counts as absent.
  if (own[name] === undefined || own[name] === null) {
    own[name] = {};
    source.include(join(name), part);
  }
  const into = own[name];
  // The schema reports a list or a text in its place.
  if (!isRecord(into)) return;
  for (const [key, entry] of Object.entries(block)) {
    const pointer = join(name, key);
    if (Object.hasOwn(into, key)) {
      const { file, line, column } = source.place(pointer, 'key');
      const message = `the key ${quote(key)} stands twice under ${quote(name)}`;
      const hint = `the first is at ${file}:${line}:${column}: remove one`;
      part.fault(pointer, { code: 'duplicate_key', message, hint, at: 'key' });
      continue;
    }
    into[key] = entry;
    source.include(pointer, part);
  }
}

function reportNoBlock(part: Source, name: string, block: unknown): void {
  const is_empty = block === null;
  part.fault(join(name), {
    code: is_empty ? 'empty' : 'wrong_type',
    message: is_empty ? `${name} is empty` : `${name}: this is not a block of keys`,
    ...(is_empty && { at: 'key' }),
  });
}

function reportOther(part: Source, name: string): void {
  if (name === 'include') {
    const message = 'an included file cannot include others';
    const hint = 'name them under include in the main file';
    part.fault('/include', { code: 'nested_include', message, hint, at: 'key' });
    return;
  }
  const settings: object = readShippedSchema('gateway').properties;
  const is_setting = Object.hasOwn(settings, name);
  part.fault(join(name), {
    code: is_setting ? 'not_included' : 'unknown_key',
    message: is_setting
      ? `${quote(name)} cannot stand in an included file`
      : `unknown key ${quote(name)}`,
    hint: is_setting ? 'write it in the main file' : blockHint(part, name),
    at: 'key',
  });
}

/** The hint for an unknown block: an entry whose block has no name, or a misspelt name. */
function blockHint(part: Source, name: string): string {
  const keys = part.keys(join(name)) ?? [];
  const isModel = keys.includes('upstreams') || keys.includes('capabilities');
  return isModel ? 'put "models:" above it, and indent it' : nameHint(name, BLOCKS);
}

/** Adds empty blocks, which an unreadable file may have: one fault for the file is enough. */
function addEmptyBlocks(source: Source): void {
  if (!isRecord(source.value)) return;
  for (const name of BLOCKS.slice(0, 3)) source.value[name] ??= {};
}
