import { parseDocument } from 'yaml';
import { expand, MAX_VALUES, type ExpansionContext } from './expand.js';
import type { Report } from './report.js';
import { isExtension, Source, type FaultDetails } from './source.js';
import { Tree } from './tree.js';
import { reportDuplicates, reportYamlFaults, type SchemaName } from './yaml-faults.js';

interface ParseContext extends ExpansionContext {
  /** The schema of the file, which tells the likely repair of a text that is not YAML. */
  schema?: SchemaName;
}

/**
 * Reads YAML text into data with places, and expands it. Faults go to the report. Text that is not
 * YAML gives a source that is not `readable`.
 */
export function parse(file: string, text: string, report: Report, context: ParseContext): Source {
  const source = new Source(file, report, text);
  const encoding = encodingFault(text);
  if (encoding) source.faultAt(encoding.offset, { ...encoding.wrong, code: 'encoding' });
  if (encoding?.offset === 0) return source;
  const document = parseDocument(text, PARSE_OPTIONS);
  reportYamlFaults(source, text, document, context.schema);
  if (encoding || document.errors.length > 0) return source;
  const budget = context.budget ?? { left: MAX_VALUES };
  const tree = new Tree(source, document, expander(source, context), budget);
  const value = tree.read();
  const isMoved = reportDuplicates(source, text, tree.duplicates, context.schema);
  if (value === undefined || isMoved) return source;
  if (value === null) {
    const hint = 'tollgate init writes a whole one; a file to be included has at least models: {}';
    source.fault('', { code: 'empty_file', message: 'the file is empty', hint });
    return source;
  }
  source.value = value;
  source.readable = true;
  return source;
}

const PARSE_OPTIONS = { prettyErrors: false, uniqueKeys: false, logLevel: 'error' } as const;

/** What is wrong with text that was no UTF-8; at 0 if it cannot be YAML at all. */
function encodingFault(text: string): { offset: number; wrong: Words } | undefined {
  if (text.includes('\0')) {
    const isWide = /^[^\0]{0,2}(?:[^\0]\0){8}/u.test(text.slice(0, 40));
    const wrong = isWide
      ? { message: 'the file is in UTF-16', hint: 'save it as UTF-8' }
      : { message: 'the file is not text', hint: 'tollgate init writes a gateway.yaml' };
    return { offset: 0, wrong };
  }
  const offset = text.indexOf('\uFFFD');
  if (offset < 0) return undefined;
  const message = 'the file holds bytes that are not UTF-8';
  return { offset, wrong: { message, hint: 'save it as UTF-8' } };
}

type Words = Omit<FaultDetails, 'code'>;

/** Replaces the references in the text at a pointer. Those that it cannot replace are faults. */
function expander(source: Source, context: ExpansionContext) {
  return (scalar: string, pointer: string): string => {
    if (isExtension(pointer)) return scalar;
    return expand(scalar, context, (wrong) => {
      if (wrong && !isForgiven(wrong, pointer, context)) source.fault(pointer, wrong);
      source.invalid_pointers.add(pointer);
      source.unread.add(pointer);
    });
  };
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
