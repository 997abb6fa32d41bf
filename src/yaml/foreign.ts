import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isRecord } from '../lib/objects.js';
import { packageRoot } from '../lib/package-root.js';

/** A hint for a word of another program: one for every value, or one for each form of a value. */
type Hint = string | { text?: string; list?: string; block?: string };

interface Words<Ours> {
  theirs: readonly string[];
  ours: Ours;
}

/** The content of `schemas/foreign.yaml`, which says what each part is. */
interface ForeignWords {
  keys: Readonly<Record<string, readonly Words<Hint>[]>>;
  not_for: Readonly<Record<string, string>>;
  values: readonly Words<string>[];
  replaces: readonly Words<readonly string[]>[];
}

let read: ForeignWords | undefined;

/** The words of other programs, read when a file first has a key that is not known. */
function foreignWords(): ForeignWords {
  if (read) return read;
  const text = readFileSync(join(packageRoot, 'schemas/foreign.yaml'), 'utf8');
  read = parse(text) as ForeignWords;
  return read;
}

function oursFor<Ours>(words: readonly Words<Ours>[] = [], theirs: string): Ours | undefined {
  return words.find((one) => one.theirs.includes(theirs))?.ours;
}

/** A word in the spelling of `schemas/foreign.yaml`. */
export function foreignSpelling(word: string): string {
  const snake = word.replaceAll(/([a-z])([A-Z])/g, '$1_$2');
  return snake.toLowerCase().replaceAll('-', '_');
}

/** The hint for a key of another program in a block; undefined for a key of none. */
export function foreignKeyHint(key: string, block: unknown, value: unknown): string | undefined {
  const { keys } = foreignWords();
  const name = String(block);
  const [whole = ''] = name.split(' of ', 1);
  const lists = [keys[name], keys[whole], keys.anywhere];
  const hints = lists.map((words) => oursFor(words, foreignSpelling(key)));
  const hint = hints.find((one) => one !== undefined);
  if (typeof hint !== 'object') return hint;
  if (Array.isArray(value)) return hint.list;
  return isRecord(value) ? hint.block : hint.text;
}

/** The end of the hint for each unknown key of a block that is easily taken for another one. */
export function notForHint(block: unknown): string {
  const hint = foreignWords().not_for[String(block)];
  return hint === undefined ? '' : `; ${hint}`;
}

/** The hint for a value of another program; undefined for a value of none. */
export function foreignValueHint(value: string): string | undefined {
  return oursFor(foreignWords().values, foreignSpelling(value));
}

/** The required keys that a key of another program replaces. */
export function requiredFor(key: string): readonly string[] {
  return oursFor(foreignWords().replaces, key) ?? [];
}
