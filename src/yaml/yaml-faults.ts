import { isCollection, isScalar, visit, type Document, type ErrorCode, type YAMLError } from 'yaml';
import { indentOf, isText, nearestRepair, type SchemaName } from './yaml-repairs.js';
import { quote, type Source } from './source.js';

export type { SchemaName } from './yaml-repairs.js';

/** A file with more mistakes than this shows the others at its next check. */
const MAX_FAULTS = 10;

/**
 * Reports each mistake of a text that is not YAML. The parser loses its way at the first one, so
 * each is repaired, as far as a repair is found, before the next one is looked for.
 */
export function reportYamlFaults(
  source: Source,
  text: string,
  document: Document,
  schema?: SchemaName,
): void {
  const tags = document.warnings.filter(({ code }) => code === 'TAG_RESOLVE_FAILED');
  for (const warning of tags) reportTag(source, text, warning);
  const lines = text.split('\n');
  let [now, errors]: [Document, readonly YAMLError[]] = [document, document.errors];
  const reported = new Set<number>();
  while (errors.length > 0 && reported.size < MAX_FAULTS) {
    const error = errors.reduce((first, one) => (one.pos[0] < first.pos[0] ? one : first));
    const isWhole = error.code === 'MULTIPLE_DOCS' || error.code === 'RESOURCE_EXHAUSTION';
    const repair = isWhole ? undefined : nearestRepair(lines, placesOf(error, now, lines), schema);
    const wrong = repair ?? unrepaired(error, now, lines);
    const { line, column, message, hint } = wrong;
    // The repair of a line that has a fault already says nothing new.
    if (reported.has(line)) return;
    reported.add(line);
    const offset = startOf(text.split('\n'), line) + column;
    source.faultAt(offset, { code: 'yaml', message, hint });
    if (!repair) return;
    lines.splice(0, lines.length, ...repair.lines);
    [now, errors] = [repair.document, repair.document.errors];
  }
}

/** The lines at which the mistake of an error may stand: its own, and those around it. */
function placesOf(error: YAMLError, document: Document, lines: readonly string[]): number[] {
  const [at] = lineAt(lines, error.pos[0]);
  const before = textBefore(lines, at);
  const after = lines.findIndex((line, i) => i > at && isText(line));
  const own = indentOf(lines[at] ?? '');
  const head = lines.findLastIndex((line, i) => i < at && isText(line) && indentOf(line) < own);
  const first = lines.findIndex((line, i) => i > head && isText(line));
  const open = openAt(document, lines.join('\n'), error.pos[0]);
  const [begun] = open === undefined ? [at] : lineAt(lines, open);
  return [...new Set([begun, at, before, after, head, first])].filter((line) => line >= 0);
}

function textBefore(lines: readonly string[], at: number): number {
  return lines.findLastIndex((line, i) => i < at && isText(line));
}

/** Where a quote or a bracket begins that is still open at an offset, as the parser reads it. */
function openAt(document: Document, text: string, offset: number): number | undefined {
  let start: number | undefined;
  visit(document, (_, node) => {
    const isQuoted = isScalar(node) && node.type?.startsWith('QUOTE') === true;
    const isFlow = isCollection(node) && node.flow === true;
    if ((!isQuoted && !isFlow) || !node.range) return;
    const [from, to] = node.range;
    const last = text.charAt(to - 1);
    const isClosed = isFlow ? /[\]}]/.test(last) : to - from > 1 && last === text.charAt(from);
    // A quote that closes in a later line most likely belongs to another value.
    const isLong = isQuoted && text.slice(from, to).includes('\n');
    const isAround = from <= offset && to >= offset - 1;
    if (isAround && (!isClosed || isLong)) start ??= from;
  });
  return start;
}

/** A key that its block has already. */
export interface DuplicateKey {
  name: string;
  offset: number;
  /** The offset of the first key of that name. */
  first: number;
}

/**
 * Reports keys that stand twice. Where a line in another column explains the first of them, that
 * alone is reported. Returns whether it does.
 */
export function reportDuplicates(
  source: Source,
  text: string,
  duplicates: readonly DuplicateKey[],
  schema?: SchemaName,
): boolean {
  const [first] = duplicates;
  if (!first) return false;
  const lines = text.split('\n');
  const [at] = lineAt(lines, first.offset);
  const repair = nearestRepair(lines, [at, textBefore(lines, at)], schema);
  if (repair) {
    const { line, column, message, hint } = repair;
    source.faultAt(startOf(lines, line) + column, { code: 'duplicate_key', message, hint });
    return true;
  }
  for (const { name, offset, first: other } of duplicates) {
    const { line } = source.placeOf(other);
    const message = `the key ${quote(name)} stands twice in this block`;
    const hint = `the first is on line ${line}: remove one, or merge the two`;
    source.faultAt(offset, { code: 'duplicate_key', message, hint });
  }
  return false;
}

function lineAt(lines: readonly string[], offset: number): [line: number, column: number] {
  let left = offset;
  for (const [i, line] of lines.entries()) {
    if (left <= line.length) return [i, left];
    left -= line.length + 1;
  }
  return [Math.max(lines.length - 1, 0), 0];
}

function startOf(lines: readonly string[], line: number): number {
  return lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0);
}

interface Words {
  message: string;
  hint?: string;
}

/** Errors that no change of a single line repairs, or for which none is found. */
const WORDS: Partial<Record<ErrorCode, Words>> = {
  TAB_AS_INDENT: { message: 'a tab cannot indent', hint: 'use spaces' },
  MULTIPLE_DOCS: { message: 'the file holds a second document', hint: 'remove the line "---"' },
  RESOURCE_EXHAUSTION: { message: 'the file is nested too deeply' },
  BAD_INDENT: {
    message: 'this line is not indented as far as its neighbours',
    hint: 'check the indentation of the lines around it',
  },
};

function unrepaired(error: YAMLError, document: Document, lines: readonly string[]) {
  const { code, message: otherwise, pos } = error;
  const open = openAt(document, lines.join('\n'), pos[0]);
  const [line, column] = lineAt(lines, open ?? pos[0]);
  const char = (lines[line] ?? '').charAt(column);
  const known = WORDS[code] ?? { message: `not YAML: ${otherwise}` };
  if (open === undefined) return { line, column, hint: '', ...known };
  return { line, column, message: `this ${char} is never closed`, hint: 'close it' };
}

/** Warns of a tag, which nothing reads. Without that of a file its value is not what was meant. */
function reportTag(source: Source, text: string, { pos: [offset], message }: YAMLError): void {
  const isFile = text.startsWith('!include', offset);
  source.faultAt(offset, {
    code: 'yaml',
    severity: isFile ? 'error' : 'warning',
    message: isFile
      ? 'files are included at the top of the file alone'
      : `a tag has no meaning here: ${message}`,
    hint: isFile ? 'write include: [FILE] there' : 'remove it',
  });
}
