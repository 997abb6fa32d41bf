import type { ConfigFault } from '../core/config-fault.js';
import { junit, sarif, sentence } from './report-formats.js';
import { withoutSecrets } from './secrets.js';

export const FAULT_FORMATS = ['text', 'json', 'github', 'sarif', 'junit'] as const;
export type FaultFormat = (typeof FAULT_FORMATS)[number];

/** The lines of a file, for excerpts; undefined where they cannot be had. */
export type ReadLines = (file: string) => readonly string[] | undefined;

/**
 * Formats faults for people (one line each, and the line of the file where `lines` gives it), as
 * one JSON document, as the workflow commands that GitHub shows beside the changed lines, or as the
 * reports that other CI systems read. `isStrict` says that a warning ends the run as an error does.
 */
export function format(
  faults: readonly ConfigFault[],
  style: FaultFormat,
  lines?: ReadLines,
  isStrict = false,
): string {
  switch (style) {
    case 'json':
      return JSON.stringify({ faults }, null, 2);
    case 'sarif':
      return sarif(faults);
    case 'junit':
      return junit(faults, isStrict);
    case 'github':
      return faults.map(githubCommand).join('\n');
    case 'text':
      return faults.map((fault) => textLine(fault) + excerpt(fault, lines)).join('\n');
  }
}

function textLine(fault: ConfigFault): string {
  const { file, line, column, severity } = fault;
  return `${file}:${line}:${column}: ${severity}: ${sentence(fault)}`;
}

/** Longer lines are cut, so that a caret stays below its place. */
const LINE_CHARACTERS = 160;

/** The line at fault, a caret below its column, and the code of the fault. */
function excerpt({ file, line, column, code }: ConfigFault, lines?: ReadLines): string {
  const text = lines?.(file)?.[line - 1];
  if (text === undefined || column > LINE_CHARACTERS) return '';
  const gutter = String(line).padStart(5);
  // A secret that the cut would tear apart is hidden before it.
  const shown = withoutSecrets(text.slice(0, 4 * LINE_CHARACTERS))
    .slice(0, LINE_CHARACTERS)
    .replaceAll('\t', ' ');
  const below = ' '.repeat(column - 1);
  return `\n${gutter} | ${shown}\n${' '.repeat(gutter.length)} | ${below}^ ${code}`;
}

function githubCommand(fault: ConfigFault): string {
  const { line, column, severity } = fault;
  const file = escapeData(fault.file).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${severity} file=${file},line=${line},col=${column}::${escapeData(sentence(fault))}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
