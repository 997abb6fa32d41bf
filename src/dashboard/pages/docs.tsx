import type { JSX } from 'preact';
import { GatewayError } from '../../core/errors.js';
import type { DashboardContext, Route, Visitor } from '../types.js';
import { documentOf, imageOf, INDEX, type Document } from './documents.js';
import { sendPage } from './page.js';

const PATH = '/docs';

/** The documentation of the package, for everybody, with its images. */
export const docsRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: PATH,
    access: 'optional',
    answer: (ctx, visitor) => show(ctx, visitor, INDEX),
  },
  {
    method: 'GET',
    path: `${PATH}/:name`,
    access: 'optional',
    answer: (ctx, visitor) => show(ctx, visitor, ctx.params.name ?? ''),
  },
  {
    method: 'GET',
    path: `${PATH}/images/:file`,
    access: 'public',
    answer: (ctx) => {
      const bytes = imageOf(ctx.params.file ?? '');
      if (!bytes) throw new GatewayError('not_found', 'There is no such image.');
      ctx.set('cache-control', 'public, max-age=3600');
      ctx.type = 'image/png';
      ctx.body = bytes;
    },
  },
];

function show(ctx: DashboardContext, visitor: Visitor | undefined, name: string): void {
  const isIndex = ctx.path === PATH;
  const document = !isIndex && name === INDEX ? undefined : documentOf(name);
  if (!document) throw new GatewayError('not_found', 'There is no such document.');
  sendPage(ctx, visitor, {
    title: document.title,
    at: PATH,
    ...(!isIndex && { above: { path: PATH, name: 'Documentation' } }),
    body: <Text document={document} />,
  });
}

function Text({ document: { html, sections } }: { document: Document }): JSX.Element {
  return (
    <div class="beside">
      {sections.length > 2 && (
        <nav class="hint" aria-label="On this page">
          <ul class="row">
            {sections.map(({ id, text }) => (
              <li>
                <a href={`#${id}`}>{text}</a>
              </li>
            ))}
          </ul>
        </nav>
      )}
      <article class="words" dangerouslySetInnerHTML={{ __html: html }} />
    </div>
  );
}
