import { expand, MAX_VALUES, type ExpansionContext } from './expand.js';
import { notText } from './line-slips.js';
import { readPlain } from './plain-yaml.js';
import type { Report } from './report.js';
import { isExtension, Source, type FaultDetails } from './source.js';

/**
 * Reads YAML text into data with places, and expands it. Faults go to the report. Text that is not
 * YAML gives a source that is not `readable`.
 */
export async function parse(
  file: string,
  text: string,
  report: Report,
  context: ExpansionContext,
): Promise<Source> {
  const budget = context.budget ?? { left: MAX_VALUES };
  const encoding_fault = notText(text);
  const source = new Source(file, report, text);
  const plain = encoding_fault ? undefined : readPlain(source, text);
  if (plain && plain.count < budget.left) {
    budget.left -= plain.count;
    const expanded = expander(source, context);
    for (const { slot, written, mark } of plain.references) {
      mark.text = expanded(written, slot.pointer);
      mark.expanded = true;
      Reflect.set(slot.holder, slot.name, mark.text);
    }
    source.value = plain.value;
    source.readable = true;
    return source;
  }
  const other = new Source(file, report, text);
  if (encoding_fault) other.faultAt(0, { code: 'encoding', ...encoding_fault });
  else {
    const { readDocument } = await import('./document.js');
    readDocument(other, text, expander(other, context), budget);
  }
  return other;
}

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
