import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The files that match a pattern, and the folders that were searched. */
export interface Matches {
  /** Relative to the folder of the pattern, sorted. */
  files: string[];
  /** Relative to the folder of the pattern, which is ''. */
  folders: string[];
}

/** A part of a path. It has no slash, control character or special character of other globs. */
const SEGMENT = /^[^/\\?[\]{}!$\p{Cc}]{1,255}$/u;

/**
 * Whether a text is a pattern: a relative path that stays below its folder. `*` stands for any
 * characters of one name. It may occur in the last name and in one folder.
 */
export function isPattern(text: string): boolean {
  const parts = text.split('/');
  const isValid = (part: string): boolean =>
    SEGMENT.test(part) && part !== '.' && part !== '..' && !part.includes('**');
  const wild = parts.slice(0, -1).filter((part) => part.includes('*'));
  return text.length <= 1024 && wild.length <= 1 && parts.every(isValid);
}

/**
 * Finds the files that match a pattern below a folder. `*` matches no name that begins with a dot.
 * A folder that cannot be read counts as empty.
 */
export async function findFiles(folder: string, pattern: string): Promise<Matches> {
  const parts = pattern.split('/');
  const last = parts.pop() ?? '';
  let folders = [''];
  const searched = new Set<string>();
  const namesIn = async (inside: string, part: string): Promise<string[]> => {
    if (!part.includes('*')) return [join(inside, part)];
    searched.add(inside);
    const names = await readdir(join(folder, inside)).catch(() => []);
    return names.filter((name) => matches(part, name)).map((name) => join(inside, name));
  };
  for (const part of parts) {
    folders = (await Promise.all(folders.map((inside) => namesIn(inside, part)))).flat();
  }
  for (const inside of folders) searched.add(inside);
  const found = (await Promise.all(folders.map((inside) => namesIn(inside, last)))).flat();
  const are_files = await Promise.all(found.map((file) => isFile(join(folder, file))));
  return { files: found.filter((_, at) => are_files[at]).toSorted(), folders: [...searched] };
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => !info.isDirectory(),
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}

/** Whether a name matches a pattern of one segment. Each `*` takes time linear in the name. */
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
