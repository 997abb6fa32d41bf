import type { ErrorObject } from 'ajv/dist/2020.js';
import { isRecord } from '../lib/objects.js';
import { readShippedSchema } from '../lib/schemas.js';
import { schemaAt } from './schema-walk.js';
import { pointer as join, quote, type FaultDetails, type Source } from './source.js';

/** A fault with the pointer to its place. */
export interface Explained {
  pointer: string;
  wrong: FaultDetails;
  /** Whether it stands for a text of any characters. */
  stands?: boolean;
}

/** A block or a key that stands one level too deep or too high. */
interface Misplaced {
  pointer: string;
  /** The pointer at which it belongs. */
  home: string;
  /** The entry that it belongs to, which may be empty without it. */
  entry?: string | undefined;
  /** Absent for a key below another one that is misplaced in the same way. */
  wrong?: FaultDetails;
}

/** What stands one level too deep or too high, by a slip of its indentation. */
export function misplaced(source: Source): Misplaced[] {
  return [...blocksWithin(source), ...keysBeside(source)];
}

/** The faults of misplaced parts. */
export function misplacedFaults(parts: readonly Misplaced[]): Explained[] {
  return parts.flatMap(({ pointer, wrong }) => (wrong ? [{ pointer, wrong }] : []));
}

/** Whether a misplaced part causes an error: one within it, or one about its absence. */
export function isCausedBy(
  { instancePath, params, data }: ErrorObject,
  { pointer, home, entry }: Misplaced,
): boolean {
  const missing: unknown = params.missingProperty;
  const isAbsence = typeof missing === 'string' && instancePath + join(missing) === home;
  const isEmpty = data === null && instancePath === entry;
  return isAbsence || isEmpty || `${instancePath}/`.startsWith(`${pointer}/`);
}

/**
 * Blocks whose keys are names, which an included file may have too. One of them within another
 * stands there by mistake.
 */
export const BLOCKS = ['owners', 'providers', 'models', 'endpoints'];

/** Whole blocks within another one. */
function blocksWithin(source: Source): Misplaced[] {
  return BLOCKS.flatMap((outer) =>
    (source.keys(join(outer)) ?? [])
      .filter((name) => name !== outer && BLOCKS.includes(name))
      .filter((name) => source.keys('')?.includes(name) === false)
      .map((name) => {
        const message = `the block ${quote(name)} stands within ${quote(outer)}`;
        const hint = 'begin it in the first column';
        const wrong = { code: 'misplaced_block', message, hint, at: 'key' } as const;
        return { pointer: join(outer, name), home: join(name), wrong };
      }),
  );
}

type KeysByBlock = Readonly<Record<string, readonly string[]>>;

let read: KeysByBlock | undefined;

/** The keys of an entry of models and of providers: no entry is called by one. */
function ownKeys(): KeysByBlock {
  if (read) return read;
  const schema = readShippedSchema('gateway');
  const keysIn = (block: string): string[] =>
    Object.keys(schemaAt(schema, join(block, 'NAME')).properties ?? {});
  read = { models: keysIn('models'), providers: keysIn('providers') };
  return read;
}

/** Keys of an entry that stand beside it. Of several in a row, the first one has a fault. */
function keysBeside(source: Source): Misplaced[] {
  return Object.entries(ownKeys()).flatMap(([block, own]) => {
    const names = source.keys(join(block)) ?? [];
    const isStray = (name: string): boolean => own.includes(name) && !isEntry(source, block, name);
    return names.flatMap((name, i) => {
      if (!isStray(name)) return [];
      const before = names.slice(0, i).findLast((one) => !isStray(one));
      const entry = before === undefined ? undefined : join(block, before);
      const isFirst = i === 0 || names[i - 1] === before;
      const wrong = explainKey(block.slice(0, -1), name, before);
      const home = (entry ?? join(block)) + join(name);
      return [{ pointer: join(block, name), home, entry, ...(isFirst && { wrong }) }];
    });
  });
}

/** Whether a value is an entry for all that, one with keys of entries. */
function isEntry(source: Source, block: string, name: string): boolean {
  const value = source.valueAt(join(block, name));
  return isRecord(value) && (ownKeys()[block] ?? []).some((key) => Object.hasOwn(value, key));
}

function explainKey(kind: string, name: string, before: string | undefined): FaultDetails {
  const isNamed = before !== undefined;
  const message = isNamed
    ? `${quote(name)} stands beside ${quote(before)}, and belongs within it`
    : `${quote(name)} is a key of a ${kind}, and no ${kind} is named above it`;
  const hint = isNamed
    ? `indent it, as the other keys of ${quote(before)}`
    : 'write the line NAME: above it, and indent this below';
  return { code: 'misplaced_key', message, hint, at: 'key' };
}

/** Whether an entry lacks a key only because that stands beside it, which is reported. */
export function isBeside(source: Source, entry: string, key: string): boolean {
  return keysBeside(source).some(({ home }) => home === entry + join(key));
}
