import { basename, join as joinPath, parse } from 'node:path';
import { isRecord } from '../lib/objects.js';
import { readShippedSchema } from '../lib/schemas.js';
import { nearestWord } from '../yaml/did-you-mean.js';
import { BLOCKS } from '../yaml/misplaced.js';
import { quote, type Source } from '../yaml/source.js';

/** Keys of an entry whose block has no name, which is a file of this program. */
const OF_ENTRIES = ['upstreams', 'capabilities', 'uses', 'api_key', 'base_url', 'name'];

/** Whether an included file is one of another program: it has none of our keys, nor one like it. */
export function isForeign({ value }: Source): boolean {
  const entries = Object.entries(isRecord(value) ? value : {});
  const isOurs = ([key, block]: [string, unknown]): boolean => {
    // The schema takes long to read, and most files need only this.
    if (BLOCKS.includes(key) || key.startsWith('x-')) return true;
    const settings: object = readShippedSchema('gateway').properties;
    if (Object.hasOwn(settings, key)) return true;
    const inner = isRecord(block) ? Object.keys(block) : [];
    const isEntry = inner.some((one) => OF_ENTRIES.includes(one));
    return isEntry || nearestWord(key, Object.keys(settings)) !== undefined;
  };
  return entries.length > 0 && !entries.some(isOurs);
}

/** Whether an editor or a person has put a copy of a file there. */
export function isBackup(file: string): boolean {
  return /~$|\.(?:bak|orig|old|swp|save|tmp|rej)$|^#.*#$/i.test(basename(file));
}

/** Reports the files of other programs once, at the pattern that matches them. */
export function reportForeign(source: Source, pointer: string, files: readonly string[]): void {
  const [first = '', ...others] = files.map((file) => basename(file));
  if (isBackup(first)) {
    const { dir, name } = parse(source.text(pointer) ?? '');
    const right = joinPath(dir, name.endsWith('*') ? `${name}.yaml` : '*.yaml');
    source.fault(pointer, {
      code: 'foreign_file',
      message: `include: ${source.word(pointer)} also matches ${quote(first)}, an older copy`,
      hint: `write ${quote(right)}, or remove the copy`,
    });
    return;
  }
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  const no = others.length > 0 ? 'which are no files of Tollgate' : 'which is no file of Tollgate';
  source.fault(pointer, {
    code: 'foreign_file',
    message: `include: ${source.word(pointer)} matches ${quote(first)}${more}, ${no}`,
    hint: 'put your own into a folder, and write its pattern: models/*.yaml',
  });
}
