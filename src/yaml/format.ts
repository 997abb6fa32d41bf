import type { ConfigFault } from '../core/config-fault.js';

export type FaultFormat = 'text' | 'json' | 'github';

/**
 * Formats faults for people (one line each), as one JSON document, or as the workflow commands that
 * GitHub shows beside the changed lines.
 */
export function format(faults: readonly ConfigFault[], style: FaultFormat): string {
  if (style === 'json') return JSON.stringify({ faults }, null, 2);
  return faults.map(style === 'github' ? githubCommand : textLine).join('\n');
}

function textLine(fault: ConfigFault): string {
  const { file, line, column, severity } = fault;
  return `${file}:${line}:${column}: ${severity}: ${sentence(fault)}`;
}

function githubCommand(fault: ConfigFault): string {
  const { line, column, severity } = fault;
  const file = escapeData(fault.file).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${severity} file=${file},line=${line},col=${column}::${escapeData(sentence(fault))}`;
}

function sentence({ message, hint }: ConfigFault): string {
  return hint === '' ? message : `${message}; ${hint}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
