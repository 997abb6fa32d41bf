import { readFile, stat } from 'node:fs/promises';

/** Far larger than any configuration. */
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Reads a regular file. A pipe or a device may never end, so anything else throws an error with a
 * code, as the file system does.
 */
export async function readRegular(file: string): Promise<{ text: string; modified_s: number }> {
  const info = await stat(file);
  if (info.isDirectory()) throw coded('EISDIR');
  if (!info.isFile()) throw coded('ENOTREG');
  if (info.size > MOST_BYTES) throw coded('EFBIG');
  return { text: await readFile(file, 'utf8'), modified_s: Math.floor(info.mtimeMs / 1000) };
}

function coded(code: string): Error {
  return Object.assign(new Error(code), { code });
}
