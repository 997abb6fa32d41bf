import { LineCounter, parseDocument, type Document, type YAMLError } from 'yaml';
import { expand, type Surroundings } from './expand.js';
import type { Report } from './report.js';
import { Source } from './source.js';
import { Tree } from './tree.js';

/**
 * Reads YAML text into data with places, expansions done. What is wrong goes to the report; text
 * that is no YAML gives a source that is not `readable`.
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
  if (document.errors.length > 0) return source;
  const tree = new Tree(source, document, (scalar, pointer) =>
    expand(scalar, surroundings, (wrong) => {
      source.fault(pointer, wrong);
      source.spoiled.add(pointer);
    }),
  );
  const value = tree.read();
  if (value === null) {
    source.fault('', { code: 'empty_file', message: 'the file is empty' });
    return source;
  }
  source.value = value;
  source.readable = true;
  return source;
}

/** One fault a line: a slip in YAML makes the parser stumble over the rest of its line too. */
function tellProblems(source: Source, text: string, document: Document): void {
  const told = new Set<number>();
  for (const error of [...document.errors, ...document.warnings]) {
    const place = source.placeOf(error.pos[0]);
    if (told.has(place.line)) continue;
    told.add(place.line);
    const severity = error.name === 'YAMLWarning' ? 'warning' : 'error';
    const line = text.split('\n')[place.line - 1] ?? '';
    source.faultAt(place, { code: 'yaml', severity, ...explain(error, line) });
  }
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
};

function explain(error: YAMLError, line: string): { message: string; hint?: string } {
  if (/[{,]\s*[^"',]*:\s*\$\{/.test(line)) {
    return { message: '${...} between { and } needs quotes', hint: 'write "${NAME}"' };
  }
  return PLAIN_WORDS[error.code] ?? { message: `not YAML: ${error.message}` };
}
