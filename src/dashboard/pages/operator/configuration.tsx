import type { JSX } from 'preact';
import type { DashboardServices, Route } from '../../types.js';
import { configurationSections, type Section } from '../../views/configuration-yaml.js';
import { sendPage } from '../page.js';
import { Code } from '../parts.js';
import { pluralize } from '../formatting.js';

/** Longer blocks are shown folded. */
const MAX_OPEN_LINES = 32;

/** The page of the configuration in use, without its secrets, in the words of gateway.yaml. */
export function configurationRoute({ configuration }: DashboardServices): Route {
  // Made at the first view: for many models it would take most of the start.
  let known: Section[] | undefined;
  return {
    method: 'GET',
    path: '/operator/configuration',
    access: 'operator',
    answer: (ctx, visitor) => {
      known ??= configurationSections(configuration);
      sendPage(ctx, visitor, {
        title: 'Configuration',
        about: (
          <>
            As it is in force, from <code>{configuration.file}</code>, with all defaults. Each part
            can be pasted into a file; comments say which secrets are left out. A changed file is
            loaded automatically.
          </>
        ),
        body: (
          <>
            <Index sections={known} />
            {known.map((section) => (
              <Folded section={section} />
            ))}
          </>
        ),
      });
    },
  };
}

function Index({ sections }: { sections: readonly Section[] }): JSX.Element {
  return (
    <nav class="index" aria-label="On this page">
      {sections.map(({ id, title, text }) => (
        <a href={`#${id}`}>
          {title} <span class="faint">{pluralize(linesOf(text), 'line')}</span>
        </a>
      ))}
    </nav>
  );
}

function Folded({ section: { id, title, text } }: { section: Section }): JSX.Element {
  const lines = linesOf(text);
  return (
    <details class="card ended" id={id} open={lines <= MAX_OPEN_LINES}>
      <summary>
        <h2>{title}</h2>
        <span class="faint small">{pluralize(lines, 'line')}</span>
      </summary>
      <div class="body">
        <Code label={title} text={text} />
      </div>
    </details>
  );
}

function linesOf(text: string): number {
  return text.split('\n').length;
}
