import { parseDocument } from 'yaml';
import type { ValueBudget } from './expand.js';
import type { Source } from './source.js';
import { Tree } from './tree.js';
import { reportYamlFaults } from './yaml-faults.js';

/** Reads any YAML text into a source. Without a fault of the text the source is `readable`. */
export function readDocument(
  source: Source,
  text: string,
  expand: (text: string, pointer: string) => string,
  budget: ValueBudget,
): void {
  const document = parseDocument(text, {
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  });
  reportYamlFaults(source, text, document);
  const bad_byte_at = text.indexOf('\uFFFD');
  if (bad_byte_at >= 0) {
    const message = 'the file holds bytes that are not UTF-8';
    const hint = 'save it as UTF-8';
    source.faultAt(bad_byte_at, { code: 'encoding', message, hint });
  }
  if (document.errors.length > 0) return;
  const value = new Tree(source, document, expand, budget).read();
  if (value === undefined) return;
  if (value === null) {
    const hint = 'tollgate init writes a whole one; a file to be included has at least models: {}';
    source.fault('', { code: 'empty_file', message: 'the file is empty', hint });
    return;
  }
  source.value = value;
  source.readable = true;
}
