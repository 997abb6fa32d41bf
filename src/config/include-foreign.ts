import { basename } from 'node:path';
import { isRecord } from '../lib/is-record.js';
import { readShippedSchema } from '../lib/schemas.js';
import { nearestWord } from '../yaml/did-you-mean.js';
import { quote, type Source } from '../yaml/source.js';

/** The blocks that an included file may have. The settings of the process stay in one place. */
export const BLOCKS = ['owners', 'providers', 'models', 'endpoints'];

/** Keys of an entry whose block has no name, which is a file of this program. */
const OF_ENTRIES = ['upstreams', 'capabilities', 'uses', 'api_key', 'base_url', 'name'];

/** Whether an included file is one of another program: it has none of our keys, nor one like it. */
export function isForeign({ value }: Source): boolean {
  const entries = Object.entries(isRecord(value) ? value : {});
  const isOurs = ([key, block]: [string, unknown]): boolean => {
    // The schema takes long to read, and most files need only this.
    if (BLOCKS.includes(key) || key.startsWith('x-')) return true;
    const settings: object = readShippedSchema('gateway')['properties'];
    if (Object.hasOwn(settings, key)) return true;
    const inner = isRecord(block) ? Object.keys(block) : [];
    const isEntry = inner.some((one) => OF_ENTRIES.includes(one));
    return isEntry || nearestWord(key, Object.keys(settings)) !== undefined;
  };
  return entries.length > 0 && !entries.some(isOurs);
}

/** Reports the files of other programs once, at the pattern that matches them. */
export function reportForeign(source: Source, pointer: string, files: readonly string[]): void {
  const [first = '', ...others] = files.map((file) => basename(file));
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  const no = others.length > 0 ? 'which are no files of Tollgate' : 'which is no file of Tollgate';
  source.fault(pointer, {
    code: 'foreign_file',
    message: `include: ${source.word(pointer)} matches ${quote(first)}${more}, ${no}`,
    hint: 'put your own into a folder, and write its pattern: models/*.yaml',
  });
}
