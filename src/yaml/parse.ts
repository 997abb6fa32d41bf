import { LineCounter, parseDocument } from 'yaml';
import { expand, type ExpansionContext } from './expand.js';
import { notText } from './line-slips.js';
import type { Report } from './report.js';
import { isExtension, Source, type FaultDetails } from './source.js';
import { Tree } from './tree.js';
import { reportYamlFaults } from './yaml-faults.js';

/**
 * Reads YAML text into data with places, and expands it. Faults go to the report. Text that is not
 * YAML gives a source that is not `readable`.
 */
export function parse(
  file: string,
  text: string,
  report: Report,
  context: ExpansionContext,
): Source {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  });
  const source = new Source(file, report, (offset) => lines.linePos(offset), text);
  const encoding_fault = notText(text);
  if (encoding_fault) {
    source.faultAt(0, { code: 'encoding', ...encoding_fault });
    return source;
  }
  reportYamlFaults(source, text, document);
  const bad_byte_at = text.indexOf('\uFFFD');
  if (bad_byte_at >= 0) {
    const message = 'the file holds bytes that are not UTF-8';
    const hint = 'save it as UTF-8';
    source.faultAt(bad_byte_at, { code: 'encoding', message, hint });
  }
  if (document.errors.length > 0) return source;
  const expanded = (scalar: string, pointer: string): string => {
    if (isExtension(pointer)) return scalar;
    return expand(scalar, context, (wrong) => {
      if (wrong && !isForgiven(wrong, pointer, context)) source.fault(pointer, wrong);
      source.invalid_pointers.add(pointer);
      source.unread.add(pointer);
    });
  };
  const tree = new Tree(source, document, expanded, context.budget);
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

/** Whether a fault is an unset value that the caller does not need. */
function isForgiven(
  { code }: FaultDetails,
  pointer: string,
  { isNeeded }: ExpansionContext,
): boolean {
  const isUnset = code === 'unset_variable' || code === 'unreadable_file';
  return isUnset && isNeeded?.(pointer) === false;
}
