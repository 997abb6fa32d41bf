import { readdir } from 'node:fs/promises';
import { dirname, join as joinPath, resolve } from 'node:path';
import { findFiles, isPattern } from '../lib/glob.js';
import { nearestWord } from '../yaml/did-you-mean.js';
import { quote } from '../yaml/source.js';

/** The form of a pattern, for hints. */
export const RELATIVE = 'write a relative path such as models/*.yaml: only * stands for other text';

/** The pattern that a glob of another program most likely means. */
export async function patternHint(pattern: string, main: string): Promise<string> {
  const folder = `${dirname(resolve(main))}/`;
  const deep = await deepPatterns(dirname(main), pattern);
  if (deep.length > 0) return `write ${deep.map(quote).join(', ')}: * stands for one folder`;
  const below = pattern.startsWith(folder) ? pattern.slice(folder.length) : '';
  if (isPattern(below)) return `write ${below}: a path begins at the folder of this file`;
  const [, before, names, after] = /^([^{}]*)\{([^{}]+)\}([^{}]*)$/.exec(pattern) ?? [];
  if (names !== undefined) {
    const all = names.split(',').map((name) => `'${before}${name.trim()}${after}'`);
    return `write one for each: [${all.join(', ')}]`;
  }
  const bare = pattern.replace(/^(?:\.?\/)+/, '').replaceAll(/(?:\*\*\/)+/g, '');
  const whole = bare.endsWith('/') ? `${bare}*.yaml` : bare;
  const isBelow = !/^\/|^[A-Za-z]:|(?:^|\/)\.\.(?:\/|$)/.test(pattern);
  if (!isBelow) return `the files must stand below the folder of this one: ${RELATIVE}`;
  const isFixed = whole !== pattern && isPattern(whole);
  const why = bare === pattern ? '' : ` ${RELATIVE}`;
  return isFixed ? `did you mean "${whole}"?${why}` : RELATIVE;
}

/** The patterns for `**`, which stands for folders of any depth elsewhere, that match a file. */
async function deepPatterns(folder: string, pattern: string): Promise<string[]> {
  if (!pattern.includes('**/')) return [];
  const tries = ['', '*/', '*/*/'].map((depth) => pattern.replaceAll('**/', depth));
  const found = await Promise.all(
    tries.map(async (one) => isPattern(one) && (await findFiles(folder, one)).files.length > 0),
  );
  return tries.filter((_, i) => found[i]);
}

/** A similar pattern that matches a file: one with another ending, or with a similar name. */
export async function nearPattern(folder: string, pattern: string): Promise<string | undefined> {
  const ending = /\.ya?ml$/.exec(pattern)?.[0];
  const other = ending && pattern.slice(0, -ending.length) + (ending === '.yml' ? '.yaml' : '.yml');
  const [inside = '', ...rest] = pattern.split('/');
  const folders = (await readdir(folder, { withFileTypes: true }).catch(() => []))
    .filter((one) => one.isDirectory())
    .map(({ name }) => name);
  const right = rest.length > 0 ? nearestWord(inside, folders) : undefined;
  const beside = pattern.includes('*') ? undefined : joinPath(dirname(pattern), '*');
  const file = beside && nearestWord(pattern, (await findFiles(folder, beside)).files);
  const tries = [other, `${pattern}/*.yaml`, right && [right, ...rest].join('/'), file];
  for (const one of tries) {
    if (one === undefined || one === pattern || !isPattern(one)) continue;
    if ((await findFiles(folder, one)).files.length > 0) return one;
  }
  return undefined;
}
