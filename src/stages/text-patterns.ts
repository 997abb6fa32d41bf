import { OptionError } from '../core/errors.js';
import { compileOperatorPattern } from '../lib/operator-pattern.js';
import { PERSONAL_DATA } from '../lib/personal-data.js';
import type { TextPattern } from '../lib/text-search.js';

/** The kind of an operator's own patterns, by which a match is replaced. */
const OWN_KIND = 'hidden';

/** The options that name patterns; an entry that breaks the schema is undefined. */
export interface SearchOptions {
  patterns?: readonly (string | undefined)[] | undefined;
  also?: readonly (string | undefined)[] | undefined;
}

/**
 * Returns the patterns that options name: known ones by their kind, and the operator's own. Throws
 * `OptionError` for a pattern that cannot be compiled.
 */
export function patternsOf({ patterns = [], also = [] }: SearchOptions): TextPattern[] {
  const known = [...PERSONAL_DATA.values()].filter(({ kind }) => patterns.includes(kind));
  const own = also.flatMap((source, at) => (source === undefined ? [] : compiled(source, at)));
  return [...known, ...own];
}

function compiled(source: string, at: number): TextPattern {
  const refused = (why: string): OptionError =>
    new OptionError(`also[${at}] ${why}`, [], `also/${at}`);
  const [, bare, flags] = /^\/(.+)\/([a-z]*)$/.exec(source) ?? [];
  if (bare !== undefined) {
    const right = flags?.includes('i') ? `(?i)${bare}` : bare;
    throw refused(`has slashes around it: write '${right}'`);
  }
  if (/^\^?\(?\.[*+]\??\)?\$?$/.test(source)) {
    throw refused('matches every text: write what the text to find looks like');
  }
  if (/[^\P{Cc}\t\n\r]/u.test(source)) {
    const single = `'${JSON.stringify(source).slice(1, -1)}'`;
    const why = 'holds a control character, as YAML reads \\ between double quotes';
    throw refused(`${why}; write it in single quotes, ${single}`);
  }
  const single = source.replaceAll(DOUBLED, String.raw`\$1`);
  if (single !== source) {
    throw refused(`has two backslashes, which stand for one in the text: write '${single}'`);
  }
  const [look] = /\(\?<?[=!]/.exec(source) ?? [];
  if (look !== undefined) {
    const way = look.includes('<') ? 'behind' : 'ahead';
    throw refused(`looks ${way}, ${look}...), as RE2 cannot: match all of it`);
  }
  try {
    return compileOperatorPattern(OWN_KIND, source);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw refused(`cannot be used: ${reason}${remedy(reason, source)}`);
  }
}

/** The class of a character, or the edge of a word, behind a backslash too many. */
const DOUBLED = /\\\\([dwsDWS](?=[+*?{])|b(?=$)|(?<=^\\\\)b)/g;

/** A hint for a pattern that RE2 does not accept. */
function remedy(reason: string, source: string): string {
  if (/missing closing/.test(reason))
    return '; close it, or write \\ before what stands for itself';
  if (!/empty text/.test(reason)) return '';
  const whole = source.replaceAll(/^\|+|\|+$|(?<=\()\|+|\|+(?=[|)])/g, '');
  return whole === source ? '; write + in place of *' : ` beside a |; write '${whole}'`;
}
