import { readFile, stat } from 'node:fs/promises';

/** Larger than any real configuration. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Reads a regular file. A pipe or a device may never end, so anything else throws an error with a
 * code, as the file system does.
 */
export async function readRegular(file: string): Promise<string> {
  const info = await stat(file);
  if (info.isDirectory()) throw errorWithCode('EISDIR');
  if (!info.isFile()) throw errorWithCode('ENOTREG');
  if (info.size > MAX_BYTES) throw errorWithCode('EFBIG');
  return readFile(file, 'utf8');
}

function errorWithCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}
