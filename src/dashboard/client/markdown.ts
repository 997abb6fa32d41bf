import { Marked, type Cell, type Token, type Tokens } from './marked.js';
import { copyButton } from './copy.js';
import { element } from './elements.js';

/** A longer text is shown as it is: parsing it again while it streams would hold up the page. */
const MAX_CHARACTERS = 50_000;
/** Elements nest at most this deep; deeper ones are shown as text. */
const MAX_DEPTH = 12;
/** Headings of an answer stand below the one of its model. */
const TOP_HEADING = 3;

/**
 * The maximum number of runs of asterisks and underscores in a text, and in a paragraph whose
 * emphasis is parsed. The time of the parser grows with the square of their number: an answer full
 * of them would freeze the page.
 */
const MAX_MARKS = 5_000;
const MAX_MARKS_TOGETHER = 200;

/** Whether a paragraph has too many marks. The parser asks at each of them, one after the other. */
const isDense = memoizeLast((text) => marksIn(text) > MAX_MARKS_TOGETHER);

const marked = new Marked({
  gfm: true,
  breaks: true,
  tokenizer: {
    // `false` leaves the decision to the parser; `undefined` means no emphasis.
    emStrong: (_rest, text) => (isDense(text) ? undefined : false),
  },
});

/** Keeps the answer for the last text, so that asking again about the same text costs nothing. */
function memoizeLast(answerOf: (text: string) => boolean): (text: string) => boolean {
  let last = { text: '', answer: answerOf('') };
  return (text) => {
    if (text !== last.text) last = { text, answer: answerOf(text) };
    return last.answer;
  };
}

function marksIn(text: string): number {
  return text.match(/[*_]+/gu)?.length ?? 0;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/**
 * The nodes of a text in Markdown. Nodes are made one by one and no text is ever read as HTML, so
 * HTML in it appears as text. Links lead to http and https only, and images are links.
 */
export function nodesOf(markdown: string): Node[] {
  const isTooLarge = markdown.length > MAX_CHARACTERS || marksIn(markdown) > MAX_MARKS;
  if (isTooLarge) return [element('p', markdown, 'wrap')];
  try {
    return nodesFor(marked.lexer(markdown), 0);
  } catch {
    return [element('p', markdown, 'wrap')];
  }
}

function nodesFor(tokens: readonly Token[] | undefined, depth: number): Node[] {
  const shown = tokens ?? [];
  if (depth > MAX_DEPTH) return [document.createTextNode(shown.map(({ raw }) => raw).join(''))];
  return shown.flatMap((token) => {
    const make = MAKERS[token.type];
    return make ? make(token as Tokens, depth + 1) : [textOf(token.raw)];
  });
}

type Maker = (token: Tokens, depth: number) => Node[];

/** Makes an element around the tokens within. */
function around(name: keyof HTMLElementTagNameMap): Maker {
  return ({ tokens }, depth) => [filled(element(name), nodesFor(tokens, depth))];
}

const MAKERS: Readonly<Record<string, Maker>> = {
  space: () => [],
  def: () => [],
  hr: () => [element('hr')],
  br: () => [element('br')],
  paragraph: around('p'),
  blockquote: around('blockquote'),
  strong: around('strong'),
  em: around('em'),
  del: around('del'),
  codespan: ({ text }) => [element('code', text)],
  escape: ({ text }) => [textOf(text)],
  text: ({ text, tokens }, depth) => (tokens ? nodesFor(tokens, depth) : [textOf(text)]),
  heading: ({ depth: level, tokens }, depth) => {
    const name = `h${Math.min(6, level + TOP_HEADING)}` as 'h4' | 'h5' | 'h6';
    return [filled(element(name), nodesFor(tokens, depth))];
  },
  code: ({ text, lang = '' }) => [codeBlock(text, lang)],
  list: ({ ordered, start, items }, depth) => {
    const list = element(ordered ? 'ol' : 'ul');
    if (ordered && typeof start === 'number' && start !== 1) list.setAttribute('start', `${start}`);
    return [
      filled(
        list,
        items.map((item) => filled(element('li'), nodesFor(item.tokens, depth))),
      ),
    ];
  },
  checkbox: ({ checked }) => [textOf(checked ? '☑ ' : '☐ ')],
  link: ({ href, tokens }, depth) => linkTo(href, nodesFor(tokens, depth)),
  image: ({ href, text }) => linkTo(href, [textOf(text || href)]),
  table: ({ header, rows }, depth) => [table(header, rows, depth)],
};

function codeBlock(text: string, language: string): HTMLElement {
  const block = element('div', '', 'code');
  const pre = element('pre');
  pre.tabIndex = 0;
  pre.setAttribute('role', 'region');
  pre.setAttribute('aria-label', language === '' ? 'Code' : `Code in ${language}`);
  pre.append(element('code', text));
  block.append(
    pre,
    copyButton(() => text, 'Copy the code'),
  );
  return block;
}

/** A link that opens in a new tab; the nodes alone if the address is not http or https. */
function linkTo(href: string, nodes: Node[]): Node[] {
  if (!/^https?:\/\//iu.test(href)) return nodes;
  const link = element('a');
  link.href = href;
  link.target = '_blank';
  link.rel = 'noopener noreferrer nofollow';
  return [filled(link, nodes)];
}

function table(header: readonly Cell[], rows: readonly Cell[][], depth: number): HTMLElement {
  const line = (cells: readonly Cell[], name: 'th' | 'td'): HTMLElement =>
    filled(
      element('tr'),
      cells.map(({ tokens }) => filled(element(name), nodesFor(tokens, depth))),
    );
  const made = element('table');
  made.append(
    filled(element('thead'), [line(header, 'th')]),
    filled(
      element('tbody'),
      rows.map((cells) => line(cells, 'td')),
    ),
  );
  const scroll = element('div', '', 'scroll');
  scroll.tabIndex = 0;
  scroll.setAttribute('role', 'region');
  scroll.setAttribute('aria-label', 'Table');
  scroll.append(made);
  return scroll;
}

function filled<E extends HTMLElement>(parent: E, nodes: readonly Node[]): E {
  parent.append(...nodes);
  return parent;
}

/** A text node, with the entities that the parser writes turned back into characters. */
function textOf(text: string): Text {
  const read = text.replaceAll(/&(?:amp|lt|gt|quot|#39);/gu, (entity) => ENTITIES[entity] ?? '');
  return document.createTextNode(read);
}
