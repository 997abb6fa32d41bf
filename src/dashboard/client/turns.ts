/** One answer on the page, which grows while it streams. */
export interface Turn {
  /** The element for its text. */
  words: HTMLElement;
  /** The element for images and videos. */
  root: HTMLElement;
  bill(text: string): void;
  fail(message: string): void;
}

/** Adds a message at the end of the page. */
export function addTurn(output: HTMLElement, who: string, text: string, isMine: boolean): Turn {
  const root = document.createElement('article');
  root.className = isMine ? 'turn mine' : 'turn';
  const words = element('div', text, 'words');
  root.append(element('h3', who), words);
  output.append(root);
  follow(output);
  return {
    words,
    root,
    bill: (said) => {
      root.append(element('p', said, 'bill'));
      follow(output);
    },
    fail: (message) => {
      const notice = element('div', message, 'notice bad');
      notice.setAttribute('role', 'alert');
      root.append(notice);
      follow(output);
    },
  };
}

/** Scrolls to the end. */
export function follow(output: HTMLElement): void {
  output.scrollTop = output.scrollHeight;
}

export function element(name: string, text: string, className = ''): HTMLElement {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}
