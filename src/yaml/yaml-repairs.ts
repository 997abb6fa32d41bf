import { parseDocument, type Document } from 'yaml';
import { validatorOfShipped } from '../lib/schemas.js';

/** The schemas of files in YAML. */
export type SchemaName = 'gateway' | 'provider' | 'prices';

/** A change after which a text has fewer faults. */
interface Change {
  line: number;
  /** The index in the line, as it was, at which the mistake stands. */
  column: number;
  lines: readonly string[];
  message: string;
  hint: string;
  /** How far it moves a line; 0 for a change of its characters. */
  columns: number;
}

/** The change that most likely repairs a text, and the document after it. */
export interface Repair extends Change {
  document: Document;
}

/**
 * The likely repair of a mistake at one of a few lines: of all slips of the hand that could stand
 * there, the one without which the text has the fewest faults, of YAML first, then of its schema.
 * Undefined if none helps. So a hint is never wrong about the columns of the open blocks.
 */
export function nearestRepair(
  lines: readonly string[],
  places: readonly number[],
  schema?: SchemaName,
): Repair | undefined {
  const [from, to] = [Math.min(...places) - NEAR, Math.max(...places) + NEAR];
  const [broken, wrong_before] = faultsIn(between(lines, from, to), schema);
  let nearest: Change | undefined;
  let fewest: Rank = [Infinity];
  for (const line of places) {
    for (const change of changesAt(lines, line)) {
      const [faults, wrong] = faultsIn(between(change.lines, from, to), schema);
      const users = change.columns === 0 ? 0 : usersOf(change);
      const rank = [faults, wrong, Math.abs(change.columns), -users];
      if (faults < broken && isLess(rank, fewest)) [nearest, fewest] = [change, rank];
    }
  }
  const isFit = isBroken(lines) || (fewest[1] ?? 0) <= wrong_before;
  if (!nearest || !isFit) return undefined;
  return { ...nearest, document: parseDocument(nearest.lines.join('\n'), OPTIONS) };
}

/** Whether a text is no YAML; otherwise its only faults are keys that stand twice. */
function isBroken(lines: readonly string[]): boolean {
  return parseDocument(lines.join('\n'), OPTIONS).errors.length > 0;
}

type Rank = readonly number[];

function isLess(one: Rank, other: Rank): boolean {
  const at = one.findIndex((number, i) => number !== other[i]);
  return at >= 0 && (one[at] ?? 0) < (other[at] ?? Infinity);
}

/** The number of lines that begin where a moved line does. */
function usersOf({ lines, line }: Change): number {
  const column = indentOf(lines[line] ?? '');
  return lines.filter((one) => indentOf(one) === column).length;
}

const OPTIONS = { prettyErrors: false, uniqueKeys: false, logLevel: 'error' } as const;

/** The number of faults of a text as YAML, and of its data. */
function faultsIn(text: string, schema?: SchemaName): readonly [yaml: number, data: number] {
  const document = parseDocument(text, { ...OPTIONS, uniqueKeys: true, merge: true });
  return [document.errors.length, schema ? wrongIn(document, schema) : 0];
}

function wrongIn(document: Document, schema: SchemaName): number {
  const validate = validatorOfShipped(schema, 'file');
  try {
    validate(document.toJS());
  } catch {
    // An alias whose anchor is out of sight, as it is in each of the texts that are compared.
    return 0;
  }
  const errors = validate.errors ?? [];
  return errors.reduce((sum, { keyword }) => sum + (keyword === 'type' ? WHOLE_BLOCK : 1), 0);
}

/** A block in place of a list, or a text in place of either, hides all that is wrong within it. */
const WHOLE_BLOCK = 20;

/** How many lines before and after the places of a mistake are looked at. */
const NEAR = 20;

/** Some lines, and the keys of the blocks that hold them; the others are left empty. */
function between(lines: readonly string[], from: number, to: number): string {
  const shown = lines.map((line, i) => (i >= from && i <= to ? line : ''));
  let column = indentOf(lines.find((line, i) => i >= from && isText(line)) ?? '');
  for (let i = from - 1; i >= 0 && column > 0; i -= 1) {
    const line = lines[i] ?? '';
    if (!isText(line) || indentOf(line) >= column) continue;
    shown[i] = line;
    column = indentOf(line);
  }
  return shown.join('\n');
}

/** A longer line is no slip of a person, and the patterns take time by its square. */
const MAX_LINE = 1_000;

/** All changes of a line that could be what was meant. */
function* changesAt(lines: readonly string[], line: number): Iterable<Change> {
  yield* charactersOf(lines);
  const text = lines[line] ?? '';
  if (!isText(text) || text.length > MAX_LINE) return;
  for (const found of textChanges(text)) {
    const { column, message, hint } = found;
    yield { line, column, message, hint, columns: 0, lines: lines.with(line, found.text) };
  }
  yield* withMerge(lines, line);
  yield* moves(lines, line);
}

/** An alias above keys of its own, as a merge key. */
function* withMerge(lines: readonly string[], line: number): Iterable<Change> {
  const text = lines[line] ?? '';
  const [, head, name] = /^(\s*\S+:)\s+\*([\w-]+)\s*$/.exec(text) ?? [];
  const next = lines.findIndex((one, i) => i > line && isText(one));
  const below = lines[next] ?? '';
  if (head === undefined || indentOf(below) <= indentOf(text)) return;
  const merged = `${' '.repeat(indentOf(below))}<<: *${name}\n${below}`;
  yield {
    line,
    column: text.indexOf('*'),
    lines: lines.with(line, head).with(next, merged),
    message: `the alias *${name} takes no keys of its own`,
    hint: `write "${head.trim()}" alone, and "<<: *${name}" as the first line below it`,
    columns: 0,
  };
}

interface TextChange {
  text: string;
  column: number;
  message: string;
  hint: string;
}

const SECRET = /key|secret|token(?!s)|password|auth|credential|:\/\//i;

/** A hint with the corrected text; `otherwise` where the text could show a secret. */
function corrected(line: string, text: string, otherwise: string): string {
  return SECRET.test(line) || text.length > 60 ? otherwise : `write ${text}`;
}

interface Slip {
  /** The text that is wrong. */
  form: RegExp;
  by: string | ((text: string) => string);
  message: string | ((text: string) => string);
  /** The hint where the right text is long or could show a secret. */
  otherwise: string;
}

const IN_QUOTES = 'put the value in quotes';
const KEY_VALUE = 'write KEY: VALUE';

/** Slips within a line. Of those that help equally, the first one counts. */
const SLIPS: readonly Slip[] = [
  {
    form: /(?<=^\s*)(?:\/\/|--(?!-)|;)/,
    by: '#',
    message: 'this is no comment',
    otherwise: 'a comment begins with #',
  },
  {
    form: /(?<=^\s*(?:- )?)([\w.-]+)\s*=\s*(\S.*?)(?=\s*$)/,
    by: '$1: $2',
    message: 'a key ends with ": ", not with "="',
    otherwise: KEY_VALUE,
  },
  {
    form: /(?<=^\s*(?:- )?)([A-Za-z_][\w-]*):(\S.*?)(?=\s*$)/,
    by: '$1: $2',
    message: 'the colon needs a space behind it',
    otherwise: KEY_VALUE,
  },
  {
    form: /(?<=^\s*(?:- )?)([A-Za-z_][\w./-]*)\s+(\S.*?)(?=\s*$)/,
    by: '$1: $2',
    message: 'the colon is missing behind this key',
    otherwise: KEY_VALUE,
  },
  {
    form: /(?<=^\s*)(\w[\w./-]*)(?=\s*(?:#.*)?$)/,
    by: '$1:',
    message: 'the colon is missing behind this key',
    otherwise: 'put a colon behind it',
  },
  {
    form: /(?<=^\s*)-([^\s-].*?)(?=\s*$)/,
    by: '- $1',
    message: 'a dash needs a space behind it',
    otherwise: 'put a space behind the dash',
  },
  {
    form: /(?<=[\w.'"\]}])\s+(?=[\w-]+:\s)/g,
    by: ', ',
    message: 'a comma is missing here',
    otherwise: 'put a comma between two entries',
  },
  {
    form: /(?<=[\w.'"\]}])(?=\s*$)/,
    by: ',',
    message: 'a comma is missing here',
    otherwise: 'put a comma between two entries',
  },
  {
    form: /(?<=[{[,:]\s*)(\$\{[^}]*\}[^\s,}\]]*)/g,
    by: '"$1"',
    message: '${...} between { and } needs quotes',
    otherwise: 'put it in quotes',
  },
  {
    form: /(?<=[{,]\s*[\w-]+:\s+)(\$[\w.]*\[[^\]\s]*\][\w.[\]]*)/g,
    by: "'$1'",
    message: 'between { and } a path with brackets needs quotes',
    otherwise: 'put it in quotes',
  },
  {
    form: /(?<=[{,]\s*[\w-]+:\s+)(#[^,}\]]*?)(?=\s*[,}\]])/,
    by: "'$1'",
    message: 'the rest of this line is a comment',
    otherwise: `${IN_QUOTES}: a # begins a comment`,
  },
  {
    form: /(?<=[{[,:]\s*|^\s*)([@`*%&!][^\s,:}\]]*)(?=:?(?:\s|$)|[,}\]])/g,
    by: "'$1'",
    message: ([char = '']) => `a value cannot begin with ${char}`,
    otherwise: IN_QUOTES,
  },
  {
    form: /(?<=:\s+)([\w.-]+):\s+(\d+|\/\/\S+|\S+\.db)(?=\s*$)/,
    by: '$1:$2',
    message: 'a second ": " stands in this value',
    otherwise: IN_QUOTES,
  },
  {
    form: /(?<=[{,]\s*[\w-]+:\s+)([^\s"'{}[\],][^"'{}[\],]*:\s[^"'{}[\],]*?)(?=\s*[,}])/g,
    by: "'$1'",
    message: 'a second ": " stands in this value',
    otherwise: IN_QUOTES,
  },
  {
    form: /"[^"]*\\[^"]*"/g,
    by: (text) => `'${text.slice(1, -1)}'`,
    message: 'between double quotes a backslash begins an escape, and this is none',
    otherwise: 'put the text in single quotes',
  },
  {
    form: /(?<=^\s*(?:- )?[\w./-]+:\s+)(?:[^\s[{]|\[:).*?(?=\s*$)/,
    by: (text) => `'${text.replaceAll("'", "''")}'`,
    message: (text) =>
      /:(?:\s|$)/.test(text)
        ? 'a second ": " stands in this value'
        : 'more text follows where the value has ended',
    otherwise: IN_QUOTES,
  },
];

function* textChanges(line: string): Iterable<TextChange> {
  yield* balanced(line);
  yield* withQuote(line);
  for (const { form, by, message, otherwise } of SLIPS) {
    const text = typeof by === 'string' ? line.replace(form, by) : line.replace(form, by);
    const column = line.search(form);
    if (column < 0 || text === line) continue;
    const [wrong = ''] = new RegExp(form, '').exec(line) ?? [];
    const right = text.slice(column, text.length - (line.length - column - wrong.length));
    const isWhole = form.global && line.match(form)?.length !== 1;
    const isShown = right.trim().length > 2 && !isWhole;
    const hint = isShown ? corrected(line, right, otherwise) : otherwise;
    yield { text, column, message: typeof message === 'string' ? message : message(wrong), hint };
  }
}

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}' };

/** A line with as many closing brackets as opening ones. */
function* balanced(line: string): Iterable<TextChange> {
  const open: { char: string; column: number }[] = [];
  const bare = line
    .replaceAll(/"[^"]*"|'[^']*'|\$\{[^}]*\}/g, (quoted) => ' '.repeat(quoted.length))
    .replace(/\s#.*$/, '');
  for (const [column, char] of bare.split('').entries()) {
    const last = open.at(-1);
    if (char in CLOSING) open.push({ char, column });
    else if (last && char === CLOSING[last.char]) open.pop();
    else if (/[\]}]/.test(char)) {
      const [end, closing] = last ? [column, `${CLOSING[last.char]} `] : [column + 1, ''];
      yield {
        text: line.slice(0, column) + closing + line.slice(end),
        column: last?.column ?? column,
        message: last ? `this "${last.char}" is never closed` : `this "${char}" closes nothing`,
        hint: last ? `close the bracket: write "${closing.trim()}"` : 'remove it',
      };
      return;
    }
  }
  const [first] = open;
  if (!first) return;
  const closing = open.map(({ char }) => CLOSING[char]).toReversed();
  const end = bare.trimEnd().length;
  yield {
    text: `${line.slice(0, end)} ${closing.join('')}${line.slice(end)}`,
    column: first.column,
    message: `this "${first.char}" is never closed`,
    hint: `close the bracket: write "${closing.join('')}" where its text ends`,
  };
}

/** A line whose last quote is closed: at its end, or before the brackets there. */
function* withQuote(line: string): Iterable<TextChange> {
  for (const mark of ['"', "'"]) {
    const column = line
      .replaceAll(mark === '"' ? /"[^"]*"/g : /'[^']*'/g, (whole) => ' '.repeat(whole.length))
      .indexOf(mark);
    if (column < 0) continue;
    const message = 'this quote is never closed';
    const hint = `end the value with ${mark}`;
    const end = line.search(/\s*[\]},]*\s*$/);
    yield { text: line.trimEnd() + mark, column, message, hint };
    yield { text: line.slice(0, end) + mark + line.slice(end), column, message, hint };
  }
}

/** Slips that a file has in many lines, if it has them at all. */
const CHARACTERS: readonly { form: RegExp; by: string; message: string; hint: string }[] = [
  {
    form: /^(?:<{7}|={7}|>{7}|\|{7})(?:\s.*)?$/,
    by: '',
    message: 'a merge conflict is left in this file',
    hint: 'keep one of its sides, and remove the lines of <, = and >',
  },
  {
    form: /[\u00a0\u2000-\u200b\u202f\u3000\ufeff]/g,
    by: ' ',
    message: 'a no-break space or another invisible character stands here',
    hint: 'type a plain space in its place',
  },
  {
    form: /[“”„«»]/g,
    by: '"',
    message: 'YAML does not know this quotation mark',
    hint: `write ' or " in its place`,
  },
  {
    form: /[：﹕]\s*/g,
    by: ': ',
    message: 'this colon is one of Chinese or Japanese text',
    hint: 'write ": " in its place',
  },
  { form: /\t/g, by: '  ', message: 'a tab cannot indent', hint: 'use spaces' },
  { form: /\t/g, by: '    ', message: 'a tab cannot indent', hint: 'use spaces' },
];

function* charactersOf(lines: readonly string[]): Iterable<Change> {
  for (const { form, by, message, hint } of CHARACTERS) {
    const line = lines.findIndex((one) => one.search(form) >= 0);
    if (line < 0) continue;
    const column = (lines[line] ?? '').search(form);
    const changed = lines.map((one) => one.replace(form, by));
    yield { line, column, message, hint, columns: 0, lines: changed };
  }
}

/** The columns of a dash and the space behind it. */
const DASH = 2;

/** A line in another column, alone or with its block, with a dash or without one. */
function* moves(lines: readonly string[], line: number): Iterable<Change> {
  const near = lines.slice(Math.max(line - NEAR, 0), line + NEAR).filter(isText);
  const own = indentOf(lines[line] ?? '');
  const text = (lines[line] ?? '').trimStart();
  const item = /^- +(?=\S)/.exec(text)?.[0];
  const below = lines.findIndex((one, i) => i > line && isText(one) && indentOf(one) <= own);
  const end = below < 0 ? lines.length : below;
  const columns = near.flatMap((one) => {
    return isItem(one) ? [indentOf(one), indentOf(one) + DASH] : [indentOf(one)];
  });
  for (const column of new Set(columns)) {
    const by = column - own;
    const moved = { line, column: own, columns: by };
    if (by !== 0) {
      const message = 'this line stands in no column of its block and its neighbours';
      const hint =
        column === 0 ? 'begin it in the first column' : `begin it in column ${column + 1}`;
      const alone = lines.with(line, ' '.repeat(column) + text);
      const parent = lines.findLast(
        (one, i) => i < line && isText(one) && !isItem(one) && indentOf(one) <= column,
      );
      // A list may begin in the column of its key, but most do not.
      const isFlush = item !== undefined && indentOf(parent ?? '') === column;
      const columns_far = Math.abs(by) + (isFlush ? 1 : 0);
      yield { ...moved, columns: columns_far, message, hint, lines: alone };
      const whole = shifted(alone, line + 1, end, by);
      const further = `${hint}, and the lines below it as far`;
      yield { ...moved, columns: columns_far + 0.5, message, hint: further, lines: whole };
    }
    if (item === undefined) {
      const message = 'this entry of a list has no "- "';
      const hint = `write "- " before it, from column ${column + 1} on`;
      const dashed = lines.with(line, `${' '.repeat(column)}- ${text}`);
      const last = lines.findIndex(
        (one, i) => i > line && isText(one) && (indentOf(one) < own || isItem(one)),
      );
      const changed = shifted(dashed, line + 1, last < 0 ? lines.length : last, by + DASH);
      const columns_far = Math.abs(by) + DASH + 1;
      yield { ...moved, columns: columns_far, message, hint, lines: changed };
      yield { ...moved, columns: columns_far, message, hint, lines: dashed };
    } else {
      const message = '"- " begins an entry of a list, and this is a key of a block';
      const bare = lines.with(line, ' '.repeat(column) + text.slice(item.length));
      const hint = `remove the "- ", and begin it in column ${column + 1}`;
      yield { ...moved, columns: Math.abs(by) + DASH + 1, message, hint, lines: bare };
    }
  }
}

/** The lines with some of them further right, or left by a negative number. */
function shifted(lines: readonly string[], from: number, to: number, by: number): string[] {
  return lines.map((line, i) => {
    const column = indentOf(line) + by;
    if (i < from || i >= to || !isText(line) || column < 0) return line;
    return ' '.repeat(column) + line.trimStart();
  });
}

function isItem(line: string): boolean {
  return /^\s*- /.test(line);
}

/** Whether a line has more than spaces and a comment. */
export function isText(line: string): boolean {
  return /^\s*[^\s#]/.test(line);
}

export function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
