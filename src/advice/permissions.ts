import type { ConfigFault, Place } from '../core/config-fault.js';
import { nearestWord } from '../yaml/did-you-mean.js';
import { BLOCKS } from '../yaml/misplaced.js';
import { quote, type Source } from '../yaml/source.js';

/** A comment `# tollgate: allow CODE, CODE`, or an option that names a code for all files. */
interface Permission extends Place {
  code: string;
  /** The lines whose warnings it accepts; undefined for an option. */
  lines?: readonly number[];
  /** Whether what stands there depends on variables that are not known. */
  is_unsure: boolean;
}

export const UNUSED_PERMISSION = 'unused_permission';

/**
 * Leaves out the warnings that comments of the files or the codes of `allow` accept. A permission
 * that accepts none is a warning, which another permission can accept.
 */
export async function withoutAllowed(
  faults: readonly ConfigFault[],
  sources: readonly Source[],
  allow: readonly string[],
  codes: readonly string[],
): Promise<ConfigFault[]> {
  const file = sources[0]?.file ?? '';
  const options = allow.map((code) => ({ code, file, line: 1, column: 1, is_unsure: false }));
  const comments = await Promise.all(sources.map(permissionsIn));
  const all: Permission[] = [...comments.flat(), ...options];
  const used = new Set<Permission>();
  const isLeft = (fault: ConfigFault): boolean => {
    const accepting = all.filter((one) => accepts(one, fault));
    for (const one of accepting) used.add(one);
    return fault.severity === 'error' || accepting.length === 0;
  };
  const left = faults.filter(isLeft);
  const unused = (isOfUnused: boolean): ConfigFault[] => {
    const idle = all.filter((one) => !used.has(one) && !one.is_unsure);
    return idle
      .filter(({ code }) => (code === UNUSED_PERMISSION) === isOfUnused)
      .map((one) => unusedFault(one, codes));
  };
  return [...left, ...unused(false).filter(isLeft), ...unused(true)];
}

function accepts({ code, file, lines }: Permission, fault: ConfigFault): boolean {
  if (fault.severity === 'error' || fault.code !== code) return false;
  return lines === undefined || (fault.file === file && lines.includes(fault.line));
}

function unusedFault(permission: Permission, codes: readonly string[]): ConfigFault {
  const { code, file, line, column, lines } = permission;
  const near = codes.includes(code) ? undefined : nearestWord(code, codes);
  return {
    severity: 'warning',
    code: UNUSED_PERMISSION,
    file,
    line,
    column,
    message: `${lines ? 'this comment' : '--allow'} accepts no warning ${quote(code)}`,
    hint: near === undefined ? 'remove it' : `did you mean ${quote(near)}?`,
  };
}

const COMMENT = /^#+\s*tollgate:\s*allow\s+(\w+(?:\s*,\s*\w+)*)/;

/** Characters of the lexer that stand for no text: the next lexeme may be a scalar. */
const MARKS = ['\u0002', '\u0018', '\u001f'];

/** The permissions of a file that is valid YAML. */
async function permissionsIn(source: Source): Promise<Permission[]> {
  const { whole: text, file } = source;
  if (!text.includes('tollgate:')) return [];
  const { Lexer } = await import('yaml');
  const lines = text.split('\n');
  const found: Permission[] = [];
  let [offset, isScalar] = [0, false];
  for (const lexeme of new Lexer().lex(text)) {
    const [, codes] = (isScalar ? undefined : COMMENT.exec(lexeme)) ?? [];
    if (codes !== undefined) {
      const { line, column } = source.placeOf(offset);
      const accepted = linesOf(lines, line);
      const is_unsure = accepted.some((one) => isUnsure(source, one));
      for (const code of codes.split(/\s*,\s*/)) {
        found.push({ code, file, line, column, lines: accepted, is_unsure });
      }
    }
    isScalar = lexeme === '\u001f';
    if (!MARKS.includes(lexeme)) offset += lexeme.length;
  }
  return found;
}

/** The line of a comment, and the next line with a value where the comment has one for itself. */
function linesOf(lines: readonly string[], line: number): number[] {
  const isComment = (text = ''): boolean => /^\s*(?:#|$)/.test(text);
  if (!isComment(lines[line - 1])) return [line];
  const below = lines.findIndex((text, at) => at >= line && !isComment(text));
  return below < 0 ? [line] : [line, below + 1];
}

/** Whether the block of a line has a value whose variables are not known. */
function isUnsure(source: Source, line: number): boolean {
  const block = blockAt(source, line);
  return [...source.unread].some((pointer) => {
    const place = source.place(pointer);
    return place.file === source.file && blockAt(source, place.line) === block;
  });
}

/** The block of names that a line stands in. All other keys are settings of the process. */
function blockAt(source: Source, line: number): string | undefined {
  const keys = (source.keys('') ?? []).filter((key) => {
    const place = source.place(`/${key}`, 'key');
    return place.file === source.file && place.line <= line;
  });
  const lineOf = (key: string): number => source.place(`/${key}`, 'key').line;
  const [last = ''] = keys.toSorted((a, b) => lineOf(b) - lineOf(a));
  return BLOCKS.find((block) => block === last);
}
