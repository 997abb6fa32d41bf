import { readFileSync, statSync } from 'node:fs';
import { UsageError } from './command.js';

const MB = 1024 ** 2;

/** The text of a regular file of at most `max_mb` MB; undefined if there is no such file. */
export function tryReadText(file: string, max_mb: number): string | undefined {
  try {
    const stat = statSync(file);
    return stat.isFile() && stat.size <= max_mb * MB ? readFileSync(file, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

/** The same text. Throws `UsageError` if there is no such file. */
export function readText(file: string, max_mb: number): string {
  const text = tryReadText(file, max_mb);
  if (text !== undefined) return text;
  throw new UsageError(
    `${file} cannot be read: it is missing, not a file, or larger than ${max_mb} MB`,
  );
}
