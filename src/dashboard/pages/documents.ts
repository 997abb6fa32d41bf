import { Marked, type RendererObject, type Token, type Tokens } from 'marked';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../lib/package-root.js';

const FOLDER = join(packageRoot, 'docs');
/** The document that lists the others. A host of repositories shows it with the folder. */
export const INDEX = 'README';
/** Neither name can leave the folder. */
const NAME = /^[a-z][a-z-]{0,40}$/u;
const IMAGE = /^[a-z][a-z-]{0,40}\.png$/u;

/** A page of the documentation. */
export interface Document {
  title: string;
  /** The text below the title, as HTML without scripts. */
  html: string;
  /** The headings of the second level, in order. */
  sections: readonly { id: string; text: string }[];
}

/** The files of a package never change while it runs, so each is rendered once. */
const documents = new Map<string, Document>();
const images = new Map<string, Buffer>();

/** The document `docs/NAME.md`; undefined where there is none. */
export function documentOf(name: string): Document | undefined {
  const known = documents.get(name);
  if (known || (name !== INDEX && !NAME.test(name))) return known;
  const bytes = fileOf(`${name}.md`);
  if (!bytes) return undefined;
  const document = render(bytes.toString());
  documents.set(name, document);
  return document;
}

/** The image `docs/images/NAME.png`; undefined where there is none. */
export function imageOf(name: string): Buffer | undefined {
  const known = images.get(name);
  if (known || !IMAGE.test(name)) return known;
  const bytes = fileOf(`images/${name}`);
  if (bytes) images.set(name, bytes);
  return bytes;
}

function fileOf(path: string): Buffer | undefined {
  const file = join(FOLDER, path);
  return existsSync(file) ? readFileSync(file) : undefined;
}

/** The HTML of a document in Markdown. HTML in it is left out. */
export function render(markdown: string): Document {
  const anchors = new Anchors();
  const marked = new Marked({ renderer: rendererWith(anchors) });
  const tokens = marked.lexer(markdown);
  const [first] = tokens;
  const hasTitle = first?.type === 'heading';
  const title = hasTitle ? plain((first as Tokens.Heading).tokens) : 'Documentation';
  const html = marked.parser(hasTitle ? tokens.slice(1) : tokens);
  return { title, html, sections: anchors.sections };
}

/** The addresses of headings, as hosts of repositories make them. */
class Anchors {
  readonly sections: { id: string; text: string }[] = [];
  readonly #times = new Map<string, number>();

  idOf(text: string, depth: number): string {
    const slug = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const times = this.#times.get(slug) ?? 0;
    this.#times.set(slug, times + 1);
    const id = times === 0 ? slug : `${slug}-${times}`;
    if (depth === 2) this.sections.push({ id, text });
    return id;
  }
}

function rendererWith(anchors: Anchors): RendererObject {
  return {
    heading({ tokens, depth }) {
      const text = plain(tokens);
      const id = anchors.idOf(text, depth);
      const name = escaped(`Link to ${text}`);
      const link = `<a class="anchor" href="#${id}" aria-label="${name}">#</a>`;
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)} ${link}</h${depth}>`;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      const to = addressOf(href);
      return to === undefined ? text : `<a href="${escaped(to)}">${text}</a>`;
    },
    image({ href, text }) {
      const name = /^images\/([\w.-]+)$/u.exec(href)?.[1];
      const alt = escaped(text);
      return name === undefined ? alt : `<img src="/docs/images/${name}" alt="${alt}" />`;
    },
    code({ text }) {
      const code = `<code>${escaped(text)}</code>`;
      return `<pre tabindex="0" role="region" aria-label="Example">${code}</pre>`;
    },
    table({ header, rows }) {
      const line = (cells: Tokens.TableCell[], tag: 'th' | 'td'): string => {
        const texts = cells.map(({ tokens }) => this.parser.parseInline(tokens));
        return `<tr>${texts.map((text) => `<${tag}>${text}</${tag}>`).join('')}</tr>`;
      };
      const head = `<thead>${line(header, 'th')}</thead>`;
      const body = `<tbody>${rows.map((row) => line(row, 'td')).join('')}</tbody>`;
      const region = '<div class="scroll" tabindex="0" role="region" aria-label="Table">';
      return `${region}<table>${head}${body}</table></div>`;
    },
    html: () => '',
  };
}

/** Where a link leads in the dashboard. A file that is no document has no address here. */
function addressOf(href: string): string | undefined {
  if (/^(?:#|https:\/\/)/u.test(href)) return href;
  const [, name, anchor = ''] = /^([A-Za-z-]+)\.md(#.*)?$/u.exec(href) ?? [];
  if (name === undefined) return undefined;
  return name === INDEX ? `/docs${anchor}` : `/docs/${name}${anchor}`;
}

/** The text of inline Markdown without its marks. */
function plain(tokens: readonly Token[]): string {
  return tokens
    .map((token) =>
      'tokens' in token && token.tokens ? plain(token.tokens) : 'text' in token ? token.text : '',
    )
    .join('');
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
