import { LineCounter, parseDocument, visit, type Document, type YAMLError } from 'yaml';
import { expand, type Surroundings } from './expand.js';
import type { Report } from './report.js';
import { isExtension, Source } from './source.js';
import { Tree } from './tree.js';

/**
 * Reads YAML text into data with places, and expands it. Faults go to the report. Text that is not
 * YAML gives a source that is not `readable`.
 */
export function parse(
  file: string,
  text: string,
  report: Report,
  surroundings: Surroundings,
): Source {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  });
  const source = new Source(file, report, (offset) => lines.linePos(offset));
  tellProblems(source, text, document);
  const strange = text.indexOf('\uFFFD');
  if (strange >= 0) {
    const message = 'the file holds bytes that are not UTF-8';
    source.faultAt(source.placeOf(strange), { code: 'encoding', message });
  }
  if (document.errors.length > 0) return source;
  const expanded = (scalar: string, pointer: string): string => {
    if (isExtension(pointer)) return scalar;
    return expand(scalar, surroundings, (wrong) => {
      if (wrong) source.fault(pointer, wrong);
      source.spoiled.add(pointer);
    });
  };
  const tree = new Tree(source, document, expanded, surroundings.budget);
  const value = tree.read();
  if (value === undefined) return source;
  if (value === null) {
    source.fault('', { code: 'empty_file', message: 'the file is empty' });
    return source;
  }
  source.value = value;
  source.readable = true;
  return source;
}

/** Errors after which the parser is lost: only the first one is reported. */
const LOST = new Set(['UNEXPECTED_TOKEN', 'BAD_INDENT']);

/** Reports one fault per line: a mistake in YAML causes further errors in the rest of its line. */
function tellProblems(source: Source, text: string, document: Document): void {
  const told = new Set<number>();
  for (const error of [...document.errors, ...document.warnings]) {
    const place = source.placeOf(startOf(error, document));
    if (told.has(place.line) || (told.size > 0 && LOST.has(error.code))) continue;
    told.add(place.line);
    const severity = error.name === 'YAMLWarning' ? 'warning' : 'error';
    const line = text.split('\n')[place.line - 1] ?? '';
    source.faultAt(place, { code: 'yaml', severity, ...explain(error, line) });
  }
}

/** The parser notices an open quote at the end of the file, but the fault is where it begins. */
function startOf(error: YAMLError, document: Document): number {
  let start = error.pos[0];
  if (!error.message.endsWith('quote')) return start;
  visit(document, {
    Scalar(_, { type, range }) {
      if (type?.startsWith('QUOTE') && range && range[1] >= error.pos[0]) start = range[0];
    },
  });
  return start;
}

const PLAIN_WORDS: Record<string, { message: string; hint?: string }> = {
  TAB_AS_INDENT: { message: 'a tab cannot indent', hint: 'use spaces' },
  MULTIPLE_DOCS: { message: 'the file holds a second document', hint: 'remove the line "---"' },
  RESOURCE_EXHAUSTION: { message: 'the file is nested too deeply' },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'a second ": " or a deeper line follows a value',
    hint: 'check the indentation, or put the value in quotes',
  },
  BAD_SCALAR_START: {
    message: 'a value cannot start with this character',
    hint: 'put the value in quotes',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'this line begins a key that has no ": "',
    hint: 'check the colon and the indentation',
  },
  BAD_INDENT: {
    message: 'this line is indented otherwise than its neighbours',
    hint: 'check the indentation of the lines above',
  },
};

function explain(error: YAMLError, line: string): { message: string; hint?: string } {
  if (/[{,]\s*[^"',]*:\s*\$\{/.test(line)) {
    return { message: '${...} between { and } needs quotes', hint: 'write "${NAME}"' };
  }
  if (/^\s*\*\s*:/.test(line)) return { message: 'the key * needs quotes', hint: 'write "*"' };
  if (error.message.endsWith('quote')) return { message: 'this quote is never closed' };
  if (error.message.startsWith('Implicit map keys need to be followed')) {
    return { message: 'this key has no value', hint: 'put ": " behind it' };
  }
  const bracket = /^Flow .* end with a (.)$/.exec(error.message)?.[1];
  if (bracket !== undefined) {
    return { message: `a "${bracket}" is missing here or above`, hint: 'close the bracket' };
  }
  if (error.code === 'TAG_RESOLVE_FAILED') {
    return { message: `a tag has no meaning here: ${error.message}`, hint: 'remove it' };
  }
  return PLAIN_WORDS[error.code] ?? { message: `not YAML: ${error.message}` };
}
