import { dirname, join as joinPath } from 'node:path';
import { findFiles } from '../lib/glob.js';
import { readRegular } from '../yaml/regular-file.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { BLOCKS } from './include-foreign.js';

/** A line of a file of this program. */
const OWN_LINE = new RegExp(`^(?:${BLOCKS.join('|')}):`, 'm');

/**
 * Warns of files beside those of a pattern that would be included if their names ended in `.yaml`
 * in place of `.yml`, or the reverse: their models would be missing without a word.
 */
export async function checkSiblings(
  source: Source,
  patterns: readonly unknown[],
  included: ReadonlyMap<string, string>,
): Promise<void> {
  const folder = dirname(source.file);
  for (const [i, pattern] of patterns.entries()) {
    const [, before, ending] = /^(.*\*)\.(ya?ml)$/.exec(String(pattern)) ?? [];
    const pointer = `/include${join(i)}`;
    if (before === undefined || source.hides(pointer)) continue;
    const other = `${before}.${ending === 'yml' ? 'yaml' : 'yml'}`;
    const { files } = await findFiles(folder, other);
    for (const file of files) {
      const path = joinPath(folder, file);
      if (included.has(path) || !OWN_LINE.test(await readRegular(path).catch(() => ''))) continue;
      source.fault(pointer, {
        code: 'unread_file',
        message: `include: ${source.word(pointer)} leaves out ${quote(file)}, which is not read`,
        hint: `rename that file to .${ending}, or add '${other}'`,
        severity: 'warning',
      });
      break;
    }
  }
}
