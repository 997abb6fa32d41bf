import { copyButton } from './copy.js';
import { element } from './elements.js';
import { nodesOf } from './markdown.js';
import { shownCode, type Call } from './shown-code.js';

/** How often a growing answer is drawn again. */
const DRAW_MS = 80;

/** One answer on the page, which grows while it streams. */
export interface Turn {
  /** The element for images and videos. */
  root: HTMLElement;
  /** The text so far. */
  text(): string;
  /** Adds to the text, which is Markdown. */
  write(addition: string): void;
  /** Shows a note on the progress; an empty text removes it. */
  note(words: string): void;
  bill(text: string): void;
  fail(message: string): void;
  /** Ends it, with buttons to copy its text and to see the call as code. */
  end(call: Call): void;
}

/** Adds the prompt with its images. */
export function addPrompt(output: HTMLElement, text: string, images: readonly string[]): void {
  const root = element('article', '', 'turn mine');
  const words = element('div', text, 'words wrap');
  root.append(element('h3', 'You', 'hint'), words);
  for (const source of images) {
    const image = element('img');
    image.src = source;
    image.alt = 'An image that you sent';
    root.append(image);
  }
  output.append(root);
  follow(output);
}

/** Adds a place for the answers to one prompt, side by side. */
export function addRow(output: HTMLElement, names: readonly string[]): Turn[] {
  const row = element('div', '', names.length > 1 ? 'split halves' : '');
  output.append(row);
  return names.map((name) => addTurn(output, row, name));
}

function addTurn(output: HTMLElement, row: HTMLElement, name: string): Turn {
  const root = element('article', '', 'turn');
  root.setAttribute('aria-busy', 'true');
  const words = element('div', '', 'words');
  const note = element('p', '', 'hint');
  note.hidden = true;
  root.append(element('h3', name, 'hint'), words, note);
  row.append(root);
  let text = '';
  let timer: number | undefined;
  const draw = (): void => {
    timer = undefined;
    words.replaceChildren(...nodesOf(text));
    follow(output);
  };
  const add = (...made: Node[]): void => {
    root.append(...made);
    follow(output);
  };
  follow(output);
  return {
    root,
    text: () => text,
    write: (addition) => {
      text += addition;
      timer ??= setTimeout(draw, DRAW_MS);
    },
    note: (message) => {
      note.textContent = message;
      note.hidden = message === '';
    },
    bill: (summary) => add(element('p', summary, 'hint bill')),
    fail: (message) => {
      const notice = element('div', message, 'notice bad');
      notice.setAttribute('role', 'alert');
      add(notice);
    },
    end: (call) => {
      clearTimeout(timer);
      note.hidden = true;
      if (text !== '') draw();
      root.removeAttribute('aria-busy');
      const tools = element('div', '', 'row tools');
      if (text !== '') tools.append(copyButton(() => text, `Copy the answer of ${name}`));
      tools.append(shownCode(call, name));
      add(tools);
    },
  };
}

/** Scrolls to the end. */
export function follow(output: Element | null): void {
  if (output) output.scrollTop = output.scrollHeight;
}
