import { element } from './elements.js';

const SHOWN_MS = 1600;

/** Shows the buttons that copy, which are hidden where no script runs. */
export function offerCopying(root: ParentNode): void {
  for (const button of root.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', () => void copy(button, button.dataset.copy ?? ''));
  }
}

/** A button that copies the text of the moment at which it is pressed. */
export function copyButton(text: () => string, label: string): HTMLButtonElement {
  const button = element('button', '', 'plain');
  button.type = 'button';
  button.setAttribute('aria-label', label);
  button.append(element('span', 'Copy'));
  button.addEventListener('click', () => void copy(button, text()));
  return button;
}

async function copy(button: HTMLButtonElement, text: string): Promise<void> {
  const label = button.querySelector('span');
  // Browsers offer a clipboard only over https and on localhost.
  const isCopied = await writeText(text);
  if (!label) return;
  label.textContent = isCopied ? 'Copied' : 'Press Ctrl+C';
  if (!isCopied) select(button.parentElement?.querySelector('pre, code'));
  setTimeout(() => (label.textContent = 'Copy'), SHOWN_MS);
}

async function writeText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function select(element: Element | null | undefined): void {
  if (element) getSelection()?.selectAllChildren(element);
}
