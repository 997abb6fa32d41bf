import { corrected } from './line-slips.js';

/**
 * The one line with a dash below a key whose other lines, as far in, have none: `alerts:`, then
 * `- webhook: URL`, then `secret: TEXT`. Undefined where further lines have a dash.
 */
export function dashedBlock(
  at: number,
  own: number,
  lines: readonly string[],
): { at: number; name: string } | undefined {
  const head = lines.findLastIndex((line, i) => i < at && isText(line) && indentOf(line) < own);
  const [, name] = /^\s*([\w-]+):\s*(?:#.*)?$/.exec(lines[head] ?? '') ?? [];
  const end = lines.findIndex((line, i) => i > at && isText(line) && indentOf(line) < own);
  const block = lines.slice(head + 1, end < 0 ? undefined : end);
  const dashed = block.flatMap((line, i) => {
    return indentOf(line) === own && /^\s*- [\w-]+:/.test(line) ? [head + 1 + i] : [];
  });
  const [only] = dashed;
  if (name === undefined || only === undefined || dashed.length > 1) return undefined;
  return { at: only, name: `"${name}"` };
}

/** The columns of a dash and the space behind it. */
const DASH = 2;

/**
 * The first entry of a list, where it has no dash and the one at this line has: its line, and the
 * column in which it begins, that of the dash or of the keys behind it. Undefined for any other
 * line.
 */
export function undashedEntry(
  at: number,
  lines: readonly string[],
): { at: number; column: number; message: string; hint: string } | undefined {
  if (!/^\s*- [\w-]+:\s/.test(lines[at] ?? '')) return undefined;
  const column = indentOf(lines[at] ?? '');
  const head = lines.findLastIndex((line, i) => i < at && isText(line) && indentOf(line) < column);
  const first = lines.findIndex((line, i) => i > head && isText(line));
  const line = lines[first] ?? '';
  const own = indentOf(line);
  const isAlike = own === column || own === column + DASH;
  if (first >= at || !isAlike || /^\s*- /.test(line)) return undefined;
  const way = corrected(line, `"- ${line.trim()}"`, 'begin this line with "- "');
  const hint =
    own === column
      ? `${way}, and begin its other keys in column ${column + DASH + 1}`
      : `${way} from column ${column + 1} on`;
  const message = 'this entry of a list has no "- ", which the next one has';
  return { at: first, column: own, message, hint };
}

/** What is wrong with a line that is indented below an alias, which has no keys of its own. */
export function belowAlias(
  at: number,
  lines: readonly string[],
): { column: number; message: string; hint: string } | undefined {
  const before = lines.findLastIndex((one, i) => i < at && isText(one));
  const [, head, name] =
    /^(\s*(?:[\w./-]+|'[^']+'|"[^"]+"):)\s+\*([\w-]+)\s*(?:#.*)?$/.exec(lines[before] ?? '') ?? [];
  const column = indentOf(lines[at] ?? '');
  if (head === undefined || column <= indentOf(lines[before] ?? '')) return undefined;
  const message = `the alias *${name} takes no keys of its own`;
  const hint = `write "${head.trim()}" alone, and "<<: *${name}" as the first line below it`;
  return { column, message, hint };
}

/** Whether a line has more than spaces and a comment. */
export function isText(line: string): boolean {
  return /^\s*[^\s#]/.test(line);
}

/** The spaces before a line. */
export function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
