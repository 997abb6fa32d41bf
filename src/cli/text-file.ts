import { readFileSync, statSync } from 'node:fs';
import { fileFault } from '../lib/file-fault.js';
import { UsageError } from './command.js';

const MB = 1024 ** 2;

/**
 * The text of a regular file of at most `max_mb` MB; undefined if there is no such file. Throws
 * `UsageError` for one that is there and cannot be read.
 */
export function tryReadText(file: string, max_mb: number): string | undefined {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat?.isFile() && stat.size <= max_mb * MB ? readFileSync(file, 'utf8') : undefined;
  } catch (error) {
    const fault = fileFault(file, error) ?? 'remove it, or put a file in its place';
    throw new UsageError(`${file} cannot be read: ${fault}`);
  }
}

/** The same text. Throws `UsageError` also if there is no such file. */
export function readText(file: string, max_mb: number): string {
  const text = tryReadText(file, max_mb);
  if (text !== undefined) return text;
  throw new UsageError(
    `${file} cannot be read: it is missing, not a file, or larger than ${max_mb} MB`,
  );
}
