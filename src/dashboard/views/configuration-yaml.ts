import { Document, isCollection, isMap, isPair, isScalar, isSeq, visit, type YAMLMap } from 'yaml';
import type { Configuration } from '../../core/configuration.js';
import { configurationFile, NOTE } from './configuration-file.js';

/** A block with more values than this takes a line for each. */
const MAX_FLOWING = 6;
const LINE_WIDTH = 96;

/** A part of gateway.yaml: one block, or the keys that are none. */
export interface Section {
  title: string;
  id: string;
  text: string;
}

/** The configuration in use as parts of a gateway.yaml, which together make one. */
export function configurationSections(configuration: Configuration): Section[] {
  const entries = Object.entries(configurationFile(configuration));
  const isPlain = ([, value]: [string, unknown]): boolean =>
    typeof value !== 'object' || value === null || Array.isArray(value);
  return [
    { title: 'Process', id: 'process', text: written(entries.filter(isPlain)) },
    ...entries
      .filter((entry) => !isPlain(entry))
      .map((entry) => ({ title: titled(entry[0]), id: entry[0], text: written([entry]) })),
  ];
}

/** YAML in which a block of few plain values takes one line, and a note is a comment. */
function written(entries: readonly [string, unknown][]): string {
  const document = new Document(Object.fromEntries(entries), { aliasDuplicateObjects: false });
  visit(document, {
    Collection: (_key, node, path) => {
      if (isMap(node)) takeNote(node);
      const values = node.items.map((item) => (isPair(item) ? item.value : item));
      const isShort = values.length <= MAX_FLOWING && !values.some(isCollection);
      const isStage = values.length === 1 && isMap(node) && isSeq(path.at(-1));
      const isWhole = node === document.contents;
      node.flow = isShort && !isStage && !isWhole && typeof node.comment !== 'string';
    },
  });
  return document.toString({ lineWidth: LINE_WIDTH, flowCollectionPadding: true }).trimEnd();
}

/** Takes the note out of its block, and leaves it as a comment at the end. */
function takeNote(map: YAMLMap): void {
  const note = map.items.find(({ key }) => isScalar(key) && key.value === NOTE);
  if (!note || !isScalar(note.value)) return;
  map.items = map.items.filter((item) => item !== note);
  map.comment = ` ${String(note.value.value)}`;
}

function titled(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
