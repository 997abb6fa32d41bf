import { marked, type Token, type Tokens } from 'marked';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block of a page. */
export interface Block {
  language: string;
  /** The info string behind the language: a file's name, or a marker such as `no-test: REASON`. */
  info: string;
  text: string;
}

/** README.md, or a page of `docs/`. */
export interface DocumentPage {
  /** From the root, such as `docs/money.md`. */
  path: string;
  text: string;
  blocks: readonly Block[];
  /** Inline code. */
  codes: readonly string[];
  links: readonly string[];
  /** The anchors of its headings, as hosts of repositories make them. */
  anchors: ReadonlySet<string>;
  tables: readonly Table[];
}

/** Cells in Markdown. */
export interface Table {
  header: readonly string[];
  rows: readonly (readonly string[])[];
}

/** README.md and every page of `docs/`. */
export const DOCUMENTS: readonly DocumentPage[] = [
  'README.md',
  ...readdirSync(`${ROOT}docs`)
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
].map(read);

/** A page by its path. Throws where there is none. */
export function documentAt(path: string): DocumentPage {
  const found = DOCUMENTS.find((document) => document.path === path);
  if (!found) throw new Error(`There is no ${path}.`);
  return found;
}

/** The table of a page whose first column is called so. Throws where there is none. */
export function tableOf(path: string, first: string, holding = ''): Table {
  const found = documentAt(path).tables.find(
    ({ header, rows }) => header[0] === first && rows.some(([cell = '']) => cell.includes(holding)),
  );
  if (!found) throw new Error(`${path} has no table of ${first}.`);
  return found;
}

/** The code in a cell: `a` of "`a`". */
export function codeIn(cell = ''): string {
  return /^`([^`]+)`$/u.exec(cell)?.[1] ?? '';
}

function read(path: string): DocumentPage {
  const text = readFileSync(ROOT + path, 'utf8');
  const blocks: Block[] = [];
  const codes: string[] = [];
  const links: string[] = [];
  const anchors = new Set<string>();
  const tables: Table[] = [];
  const look = (token: Token): void => {
    const { type } = token;
    if (type === 'code') {
      const { lang = '', text: code } = token as Tokens.Code;
      const [language = '', ...info] = lang.split(' ');
      blocks.push({ language, info: info.join(' '), text: code });
    } else if (type === 'codespan') codes.push((token as Tokens.Codespan).text);
    else if (type === 'link' || type === 'image') links.push((token as Tokens.Link).href);
    else if (type === 'heading') anchors.add(anchorOf((token as Tokens.Heading).text));
    else if (type === 'table') {
      const { header, rows } = token as Tokens.Table;
      const texts = (cells: Tokens.TableCell[]): string[] => cells.map((cell) => cell.text);
      tables.push({ header: texts(header), rows: rows.map(texts) });
    }
  };
  void marked.walkTokens(marked.lexer(text), look);
  return { path, text, blocks, codes, links, anchors, tables };
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}
