import { LineCounter, parseDocument } from 'yaml';
import { expand, type Surroundings } from './expand.js';
import { notText } from './line-slips.js';
import type { Report } from './report.js';
import { isExtension, Source, type Wrong } from './source.js';
import { Tree } from './tree.js';
import { tellYamlFaults } from './yaml-faults.js';

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
  const source = new Source(file, report, (offset) => lines.linePos(offset), text);
  const strangeness = notText(text);
  if (strangeness) {
    source.faultAt(source.placeOf(0), { code: 'encoding', ...strangeness });
    return source;
  }
  tellYamlFaults(source, text, document);
  const strange = text.indexOf('\uFFFD');
  if (strange >= 0) {
    const message = 'the file holds bytes that are not UTF-8';
    const hint = 'save it as UTF-8';
    source.faultAt(source.placeOf(strange), { code: 'encoding', message, hint });
  }
  if (document.errors.length > 0) return source;
  const expanded = (scalar: string, pointer: string): string => {
    if (isExtension(pointer)) return scalar;
    return expand(scalar, surroundings, (wrong) => {
      if (wrong && !isForgiven(wrong, pointer, surroundings)) source.fault(pointer, wrong);
      source.spoiled.add(pointer);
    });
  };
  const tree = new Tree(source, document, expanded, surroundings.budget);
  const value = tree.read();
  if (value === undefined) return source;
  if (value === null) {
    const hint = 'tollgate init writes a whole one; a file to be included has at least models: {}';
    source.fault('', { code: 'empty_file', message: 'the file is empty', hint });
    return source;
  }
  source.value = value;
  source.readable = true;
  return source;
}

/** Whether a value that is unset here is one that does not matter. */
function isForgiven({ code }: Wrong, pointer: string, { isNeeded }: Surroundings): boolean {
  const isUnset = code === 'unset_variable' || code === 'unreadable_file';
  return isUnset && isNeeded?.(pointer) === false;
}
