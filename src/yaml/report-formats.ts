import { isAbsolute, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ConfigFault } from '../core/config-fault.js';

/** The message of a fault with its hint. */
export function sentence({ message, hint }: ConfigFault): string {
  return hint === '' ? message : `${message}; ${hint}`;
}

const SARIF_SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';

/** One run in SARIF 2.1.0, which code hosts show beside the lines of a change. */
export function sarif(faults: readonly ConfigFault[]): string {
  const rules = [...new Set(faults.map(({ code }) => code))].map((id) => ({ id }));
  const results = faults.map((fault) => ({
    ruleId: fault.code,
    level: fault.severity,
    message: { text: sentence(fault) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(fault.file) },
          region: { startLine: fault.line, startColumn: fault.column },
        },
      },
    ],
  }));
  // Columns are counted as editors do.
  const columnKind = 'utf16CodeUnits';
  const run = { tool: { driver: { name: 'tollgate check', rules } }, columnKind, results };
  return JSON.stringify({ $schema: SARIF_SCHEMA, version: '2.1.0', runs: [run] }, null, 2);
}

/** A relative path stays one, so that a code host finds it in its checkout. */
function uriOf(file: string): string {
  if (isAbsolute(file)) return pathToFileURL(file).href;
  return file.split(sep).map(encodeURIComponent).join('/');
}

/**
 * One suite in JUnit's XML: a test that passed where there is no fault, else one for each. Warnings
 * pass, unless they end the run with status 1, as `isStrict` says.
 */
export function junit(faults: readonly ConfigFault[], isStrict: boolean): string {
  const fails = ({ severity }: ConfigFault): boolean => isStrict || severity === 'error';
  const failed = faults.filter(fails).length;
  const cases =
    faults.length === 0
      ? ['    <testcase name="configuration"/>']
      : faults.map((fault) => caseOf(fault, fails(fault)));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite name="tollgate check" tests="${cases.length}" failures="${failed}">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
  ].join('\n');
}

function caseOf(fault: ConfigFault, isFailure: boolean): string {
  const { severity, code, file, line, column } = fault;
  const place = `${file}:${line}:${column}`;
  const name = escaped(`${code} ${place}`);
  const words = escaped(sentence(fault));
  const element = isFailure
    ? `<failure type="${escaped(code)}" message="${words}">${escaped(place)}</failure>`
    : `<system-out>${severity}: ${words}</system-out>`;
  return `    <testcase name="${name}" file="${escaped(file)}">${element}</testcase>`;
}

/** A text escaped for XML, without the characters that XML cannot hold. */
function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\P{Cc}]|[\ufffe\uffff]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
