import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The files of a pattern, and the folders that were looked into for them. */
export interface Matches {
  /** Relative to the folder of the pattern, sorted. */
  files: string[];
  /** Relative too; the folder of the pattern is ''. */
  folders: string[];
}

/** A part of a path: no slash, no control character, none that means something in other globs. */
const SEGMENT = /^[^/\\?[\]{}!$\p{Cc}]{1,255}$/u;

/**
 * Whether a text is a pattern of files: a relative path that stays below its folder, in which `*`
 * stands for any characters of one name, in at most one folder and the last name.
 */
export function isPattern(text: string): boolean {
  const parts = text.split('/');
  const isSound = (part: string): boolean =>
    SEGMENT.test(part) && part !== '.' && part !== '..' && !part.includes('**');
  const wild = parts.slice(0, -1).filter((part) => part.includes('*'));
  return text.length <= 1024 && wild.length <= 1 && parts.every(isSound);
}

/**
 * Finds the files that match a pattern below a folder. `*` matches no name that begins with a dot.
 * A folder that cannot be read holds nothing.
 */
export async function findFiles(folder: string, pattern: string): Promise<Matches> {
  const parts = pattern.split('/');
  const last = parts.pop() ?? '';
  let folders = [''];
  const looked = new Set<string>();
  const named = async (inside: string, part: string): Promise<string[]> => {
    if (!part.includes('*')) return [join(inside, part)];
    looked.add(inside);
    const names = await readdir(join(folder, inside)).catch(() => []);
    return names.filter((name) => matches(part, name)).map((name) => join(inside, name));
  };
  for (const part of parts) {
    folders = (await Promise.all(folders.map((inside) => named(inside, part)))).flat();
  }
  for (const inside of folders) looked.add(inside);
  const found = (await Promise.all(folders.map((inside) => named(inside, last)))).flat();
  const are_files = await Promise.all(found.map((file) => isFile(join(folder, file))));
  return { files: found.filter((_, at) => are_files[at]).toSorted(), folders: [...looked] };
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => !info.isDirectory(),
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}

/** Whether a name matches a pattern of one segment; in time linear in the name for each `*`. */
function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const end = rest.pop();
  if (name.startsWith('.') && !first.startsWith('.')) return false;
  if (end === undefined) return name === pattern;
  if (!name.startsWith(first) || name.length < first.length + end.length) return false;
  let from = first.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return from <= name.length - end.length && name.endsWith(end);
}
