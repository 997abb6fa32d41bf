import { readFile, stat } from 'node:fs/promises';

/** Far more than any configuration has. */
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * The text of a regular file. A pipe or a device may never end, so nothing else is read: it throws
 * an error with a code, as the file system does.
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
