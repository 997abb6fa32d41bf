/** One answer on the page, that grows as it comes. */
export interface Turn {
  /** Where its text goes. */
  words: HTMLElement;
  /** Where images and the like go. */
  root: HTMLElement;
  bill(text: string): void;
  fail(message: string): void;
}

/** Adds what somebody has said at the end of the page. */
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

/** Keeps the end in view. */
export function follow(output: HTMLElement): void {
  output.scrollTop = output.scrollHeight;
}

export function element(name: string, text: string, className = ''): HTMLElement {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}
