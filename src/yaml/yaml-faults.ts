import { visit, type Document, type YAMLError } from 'yaml';
import { corrected, slipOf } from './line-slips.js';
import { belowAlias, dashedBlock, indentOf, isText, undashedEntry } from './list-lines.js';
import type { Source } from './source.js';

/** Errors after which the parser is lost: only the first one is reported. */
const LOST = new Set([
  'UNEXPECTED_TOKEN',
  'BAD_INDENT',
  'BLOCK_AS_IMPLICIT_KEY',
  'MULTILINE_IMPLICIT_KEY',
  'MISSING_CHAR',
]);

/** A fault by its offset in the text. */
interface OffsetFault {
  offset: number;
  message: string;
  hint?: string | undefined;
}

interface Text {
  text: string;
  lines: readonly string[];
  /** The offset at which each line begins. */
  starts: readonly number[];
}

/** Reports one fault per line: a mistake in YAML causes further errors in the rest of its line. */
export function reportYamlFaults(source: Source, text: string, document: Document): void {
  const problems = [...document.errors, ...document.warnings].toSorted(
    (a, b) => a.pos[0] - b.pos[0],
  );
  if (problems.length === 0) return;
  const whole = linesOf(text);
  const lines = new Set<number>();
  const messages = new Set<string>();
  for (const error of problems) {
    const found = explain(error, whole, document);
    const place = source.placeOf(found.offset);
    const isEcho = lines.size > 0 && LOST.has(error.code);
    if (lines.has(place.line) || isEcho || messages.has(found.message)) continue;
    lines.add(place.line);
    messages.add(found.message);
    const { message, hint = '' } = found;
    const isTag = error.code === 'TAG_RESOLVE_FAILED';
    const isLight = isTag && !error.message.endsWith('!include');
    const severity = error.name === 'YAMLWarning' && isLight ? 'warning' : 'error';
    source.faultAt(found.offset, { code: 'yaml', severity, message, hint });
  }
}

function linesOf(text: string): Text {
  const lines = text.split('\n');
  const starts = [0];
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length + 1);
  return { text, lines, starts };
}

function lineAt({ starts }: Text, offset: number): number {
  return starts.findLastIndex((start) => start <= offset);
}

const PLAIN_WORDS: Record<string, { message: string; hint?: string }> = {
  TAB_AS_INDENT: { message: 'a tab cannot indent', hint: 'use spaces' },
  MULTIPLE_DOCS: { message: 'the file holds a second document', hint: 'remove the line "---"' },
  RESOURCE_EXHAUSTION: { message: 'the file is nested too deeply' },
  MULTILINE_IMPLICIT_KEY: {
    message: 'this line begins a key that has no ": "',
    hint: 'check the colon and the indentation',
  },
  BAD_INDENT: {
    message: 'this line is not indented as far as its neighbours',
    hint: 'check the indentation of the lines above',
  },
  BAD_DQ_ESCAPE: {
    message: 'between double quotes a backslash begins an escape, and this is none',
    hint: 'put the text in single quotes',
  },
};

function explain(error: YAMLError, whole: Text, document: Document): OffsetFault {
  const [offset] = error.pos;
  const { code, message } = error;
  if (code === 'TAB_AS_INDENT') return { offset, ...inWords(error, whole) };
  if (message.endsWith('quote')) return openQuote(offset, whole, document);
  if (/^Flow .* end with a .$/.test(message)) return openBracket(offset, whole, document);
  const found = lineAt(whole, offset);
  const tab_at = LOST_INDENT.has(code) ? tabNear(found, whole) : undefined;
  if (tab_at !== undefined) {
    return { offset: tab_at, ...(PLAIN_WORDS['TAB_AS_INDENT'] ?? { message }) };
  }
  // The parser notices a wrong indentation at the end of the block above.
  const isBlank = code === 'BAD_INDENT' && (whole.lines[found] ?? '').trim() === '';
  const at = isBlank ? whole.lines.findIndex((line, i) => i > found && isText(line)) : found;
  const start = whole.starts[at] ?? 0;
  const slip = code === 'MULTIPLE_DOCS' ? undefined : slipOf(whole.lines[at] ?? '');
  if (slip) return { ...slip, offset: start + slip.at };
  const alias = belowAlias(at, whole.lines);
  if (alias) return { ...alias, offset: start + alias.column };
  const word = /^\s*([a-z_][\w./-]*)\s*$/i.exec(whole.lines[at] ?? '')?.[1];
  if (code === 'MULTILINE_IMPLICIT_KEY' && word !== undefined) {
    return { offset, message: 'the colon is missing behind this key', hint: `write ${word}:` };
  }
  if (code === 'BAD_INDENT' || message.startsWith('Sequence item without -'))
    return shallow(offset, at, whole);
  if (code === 'BLOCK_AS_IMPLICIT_KEY') return deeper(offset, at, whole);
  return { offset, ...inWords(error, whole) };
}

/** Errors that a tab causes before a line of a block. Between braces tabs are allowed. */
const LOST_INDENT = new Set(['BAD_INDENT', 'BLOCK_AS_IMPLICIT_KEY', 'MULTILINE_IMPLICIT_KEY']);

/** The offset of a tab that indents a line, or the next one, by which the parser is misled. */
function tabNear(at: number, { lines, starts }: Text): number | undefined {
  const next = lines.findIndex((line, i) => i > at && isText(line));
  for (const one of [at, next]) {
    const spaces = /^ *(?=\t)/.exec(lines[one] ?? '')?.[0];
    if (spaces !== undefined) return (starts[one] ?? 0) + spaces.length;
  }
  return undefined;
}

/** The parser notices an open quote at the end of the file, but the fault is where it begins. */
function openQuote(offset: number, { text }: Text, document: Document): OffsetFault {
  let start = offset;
  visit(document, {
    Scalar(_, { type, range }) {
      if (type?.startsWith('QUOTE') && range && range[0] <= offset && range[1] >= offset)
        start = range[0];
    },
  });
  const mark = text[start] === '"' ? '"' : "'";
  const hint = `end the value with ${mark}`;
  return { offset: start, message: 'this quote is never closed', hint };
}

/** The parser notices an open bracket in the next line, but the fault is at the bracket. */
function openBracket(offset: number, { text }: Text, document: Document): OffsetFault {
  let start = offset;
  visit(document, {
    Collection(_, { flow, range }) {
      if (!flow || !range || range[0] > offset) return;
      if (!/[\]}]/.test(text[range[1] - 1] ?? '')) start = range[0];
    },
  });
  const open = text[start] ?? '';
  if (!/[[{]/.test(open)) return { offset, message: 'a bracket is missing here or above' };
  const after = text.slice(start, text.indexOf('\n', start));
  if (/\s#/.test(after)) {
    const way = 'put the value in quotes: a # begins a comment';
    return {
      offset: start + after.search(/#/),
      message: 'the rest of this line is a comment',
      hint: way,
    };
  }
  const hint = `close the bracket: write "${open === '[' ? ']' : '}'}" where its text ends`;
  return { offset: start, message: `this "${open}" is never closed`, hint };
}

/** A value with a second colon in it, or with a line below it that is deeper. */
function deeper(offset: number, at: number, { lines, starts }: Text): OffsetFault {
  const undashed = undashedEntry(at, lines);
  if (undashed) return { ...undashed, offset: (starts[undashed.at] ?? 0) + undashed.column };
  const line = lines[at] ?? '';
  const value = line.slice(offset - (starts[at] ?? 0)).trim();
  if (value === 'sqlite::memory:') {
    const why = 'accounts and charges in memory are lost when the gateway stops';
    return { offset, message: `store: ${why}`, hint: 'write sqlite:data/tollgate.db' };
  }
  if (/:(?:\s|$)/.test(value)) {
    const isFile = /^\$\{\s*file:\s/.test(value);
    const way = isFile ? 'write ${file:PATH} without the space' : 'put the value in quotes';
    const hint = corrected(line, withoutColon(value), way);
    return { offset, message: 'a second ": " stands in this value', hint };
  }
  const next = lines.findIndex((one, i) => i > at && isText(one));
  const after = lines.findIndex((one, i) => i > next && isText(one));
  const [own, below, further] = [at, next, after].map((i) => indentOf(lines[i] ?? ''));
  if (next < 0 || own === undefined || below === undefined) {
    return { offset, message: 'a deeper line follows a value' };
  }
  const before = lines.findLastIndex((one, i) => i < at && isText(one));
  const above = indentOf(lines[before] ?? '');
  const isOdd = (further === below || above === below) && own < below;
  const [odd, column] = isOdd ? [at, below + 1] : [next, own + 1];
  const message = isOdd
    ? 'the indentation of this line is not that of the lines below it'
    : 'the indentation of this line is deeper than above, where a value stands already';
  const place = (starts[odd] ?? 0) + indentOf(lines[odd] ?? '');
  return { offset: place, message, hint: `begin it in column ${column}` };
}

/** A key of the top of the file that no block below it has. */
const TOP_KEY =
  /^\s+(?:owners|models|endpoints|include|listen|public_url|store|sign_in|alerts|traces|cors):/;

/** Lists of blocks, in quotes. */
const LISTS = ['"upstreams"', '"stages"'];

/** A line that is indented less than its neighbours, and more than their block. */
function shallow(offset: number, at: number, { lines, starts }: Text): OffsetFault {
  const before = lines.findLastIndex((one, i) => i < at && isText(one));
  const [own, above] = [at, before].map((i) => indentOf(lines[i] ?? ''));
  const message = 'this line is not indented as far as its neighbours';
  if (own !== undefined && own > 0 && TOP_KEY.test(lines[at] ?? '')) {
    const way = 'begin it in the first column';
    return { offset: (starts[at] ?? 0) + own, message: 'this key stands at the top', hint: way };
  }
  const isDeep = own !== undefined && above !== undefined && own > above;
  if (isDeep && !/^\s*- /.test(lines[before] ?? '')) {
    const deep = 'this line is indented further than its neighbours';
    return {
      offset: (starts[at] ?? 0) + own,
      message: deep,
      hint: `begin it in column ${above + 1}`,
    };
  }
  if (
    own === undefined ||
    above === undefined ||
    (own >= above && !/^\s*- /.test(lines[before] ?? ''))
  ) {
    return { offset, message, hint: 'check the indentation of the lines above' };
  }
  const list = dashedBlock(at, own, lines);
  if (list !== undefined && LISTS.includes(list.name)) {
    // Only the first key of the entry stands behind its dash.
    const lost = `the entry of ${list.name} that "- " begins ends above this line`;
    const place = (starts[list.at + 1] ?? 0) + own;
    return { offset: place, message: lost, hint: `begin this line in column ${own + 3}` };
  }
  if (list !== undefined) {
    const place = (starts[list.at] ?? 0) + own;
    const key = `${list.name} is a block of keys, and "- " begins a list`;
    const [, id] =
      /^\s*- (?:id|name|model_name):\s+([\w./:-]+)\s*$/.exec(lines[list.at] ?? '') ?? [];
    const hint = id === undefined ? 'remove the "- "' : `write "${id}:" in its place`;
    return { offset: place, message: key, hint };
  }
  // The keys of an entry of a list begin below its first key, not below its dash.
  const dash = /^\s*- /.exec(lines[before] ?? '')?.[0].length;
  const hint = `begin it in column ${(dash ?? above) + 1}`;
  return { offset: (starts[at] ?? 0) + own, message, hint };
}

/** The value without the space behind its colon if it is an address, else in quotes. */
function withoutColon(value: string): string {
  if (/^(?:sqlite|https?|postgres):\s/.test(value)) return value.replace(/:\s+/, ':');
  if (/^[\w.-]+:\s+\d+$/.test(value)) return value.replace(/:\s+/, ':');
  if (/^[A-Z]+:\s+\//.test(value)) return value.replace(':', '');
  return `'${value.replaceAll("'", "''")}'`;
}

function inWords(error: YAMLError, whole: Text): { message: string; hint?: string | undefined } {
  const { code, message, pos } = error;
  if (code === 'BAD_SCALAR_START') return badStart(pos[0], whole);
  if (message.startsWith('Implicit map keys need to be followed')) {
    return { message: 'this key has no value', hint: 'put ": " behind it' };
  }
  if (/^(?:Missing , |Block collections are not allowed within)/.test(message)) {
    const line = whole.lines[lineAt(whole, pos[0])] ?? '';
    const [, first, second] =
      /([\w-]+:\s+[^\s,{}[\]"']+)\s+([\w-]+:\s+[^\s,{}[\]"']+)/.exec(line) ?? [];
    const way = 'put a comma between two entries';
    const hint = first === undefined ? way : corrected(line, `${first}, ${second}`, way);
    return { message: 'a comma is missing here', hint };
  }
  const [, closing] = /^Unexpected flow-(?:map|seq)-end .*"(.)"$/.exec(message) ?? [];
  if (closing !== undefined)
    return { message: `this "${closing}" closes nothing`, hint: 'remove it' };
  if (message.endsWith('at node end')) {
    const line = whole.lines[lineAt(whole, pos[0])] ?? '';
    const value = /^\s*(?:- )?[\w-]+:\s+(\S.*?)\s*$/.exec(line)?.[1] ?? '';
    const hint = corrected(line, `'${value}'`, 'put the whole value in quotes');
    return { message: 'more text follows where the value has ended', hint };
  }
  if (code === 'TAG_RESOLVE_FAILED') {
    const line = whole.lines[lineAt(whole, pos[0])] ?? '';
    const [, file] = /!include\s+['"]?([^\s'",{}[\]]+)/.exec(line) ?? [];
    const message = 'files are included at the top of the file alone';
    if (file !== undefined) return { message, hint: `write include: [${file}] there` };
    return { message: `a tag has no meaning here: ${error.message}`, hint: 'remove it' };
  }
  return PLAIN_WORDS[code] ?? { message: `not YAML: ${message}` };
}

/** A value that begins with a character such as @ or a backtick belongs in quotes. */
function badStart(offset: number, whole: Text): { message: string; hint: string } {
  const line = whole.lines[lineAt(whole, offset)] ?? '';
  const [word = ''] = /^[^,\]}\n]*/.exec(whole.text.slice(offset)) ?? [];
  const char = word.slice(0, 1);
  const bare = word.trim().replaceAll('`', '');
  const hint = corrected(line, `'${bare}'`, 'put the value in quotes');
  return { message: `a value cannot begin with ${char}`, hint };
}
