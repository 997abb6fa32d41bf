import type { JSX } from 'preact';
import { Document, isCollection, isPair, visit } from 'yaml';
import type { DashboardServices, Route } from '../../types.js';
import { configurationShape } from '../../views/configuration.js';
import { sendPage } from '../page.js';
import { Code } from '../parts.js';
import { counted } from '../words.js';

/** Longer blocks are folded at first. */
const MOST_OPEN_LINES = 20;

/** A block with more values than this takes a line for each. */
const MAX_FLOWING = 6;

interface Section {
  title: string;
  text: string;
}

/** The page of the configuration in use, without its secrets, as YAML. */
export function configurationRoute({ configuration }: DashboardServices): Route {
  // Made at the first view: for many models it would take most of the start.
  let known: Section[] | undefined;
  return {
    method: 'GET',
    path: '/operator/configuration',
    who: 'operator',
    answer: (ctx, visitor) => {
      known ??= sectionsOf(configuration);
      sendPage(ctx, visitor, {
        title: 'Configuration',
        about: (
          <>
            As it is in force, from <code>{configuration.file}</code>, without its secrets. A
            changed file is taken up by itself.
          </>
        ),
        body: known.map((section) => <Folded section={section} />),
      });
    },
  };
}

function sectionsOf(configuration: DashboardServices['configuration']): Section[] {
  const shape = Object.entries(configurationShape(configuration));
  const isPlain = ([, value]: [string, unknown]): boolean =>
    typeof value !== 'object' || value === null || Array.isArray(value);
  return [
    { title: 'Process', text: written(shape.filter(isPlain)) },
    ...shape
      .filter((entry) => !isPlain(entry))
      .map((entry) => ({ title: titled(entry[0]), text: written([entry]) })),
  ];
}

function Folded({ section: { title, text } }: { section: Section }): JSX.Element {
  const lines = text.split('\n').length;
  return (
    <details class="card ended" open={lines <= MOST_OPEN_LINES}>
      <summary>
        <h2>{title}</h2>
        <span class="faint small">{counted(lines, 'line')}</span>
      </summary>
      <div class="body">
        <Code label={title} text={text} />
      </div>
    </details>
  );
}

/** YAML in which a block of few plain values takes one line. */
function written(entries: readonly [string, unknown][]): string {
  const document = new Document(Object.fromEntries(entries));
  visit(document, {
    Collection: (_key, node) => {
      const values = node.items.map((item) => (isPair(item) ? item.value : item));
      const isShort = values.length > 0 && values.length <= MAX_FLOWING;
      if (isShort && !values.some(isCollection)) node.flow = node !== document.contents;
    },
  });
  return document.toString({ lineWidth: 96, flowCollectionPadding: false }).trimEnd();
}

function titled(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
