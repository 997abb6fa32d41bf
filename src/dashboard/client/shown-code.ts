import { codeOf, LANGUAGE_NAMES, LANGUAGES, type CodeCall } from './call-code.js';
import { copyButton } from './copy.js';
import { element, find } from './elements.js';

/** A call of the gateway: where it goes, and its body. */
export interface Call {
  kind: string;
  path: string;
  body: Readonly<Record<string, unknown>>;
}

type Clients = Readonly<Record<string, CodeCall['client']>>;

/** Characters of a text that the code shows; images as data: URLs are longer. */
const MAX_CHARACTERS = 4000;
const SHOWN_CHARACTERS = 40;

/** A folded block with the call as code in each language. The code is written on first opening. */
export function shownCode(call: Call, name: string): HTMLElement {
  const details = element('details');
  details.append(element('summary', 'Code for this call'));
  details.addEventListener('toggle', () => fill(details, call, name), { once: true });
  return details;
}

function fill(details: HTMLElement, { kind, path, body }: Call, name: string): void {
  const { url = '', clients = '{}' } = find('#playground').dataset;
  const client = (JSON.parse(clients) as Clients)[kind];
  const call: CodeCall = { path, body: shortened(body) as CodeCall['body'] };
  const tabs = element('div', '', 'segments');
  tabs.setAttribute('role', 'group');
  tabs.setAttribute('aria-label', 'Language');
  const pre = element('pre');
  pre.tabIndex = 0;
  pre.setAttribute('role', 'region');
  pre.setAttribute('aria-label', `Code for ${name}`);
  const code = element('code');
  pre.append(code);
  const block = element('div', '', 'code');
  block.append(
    pre,
    copyButton(() => code.textContent, 'Copy the code of this call'),
  );
  for (const language of LANGUAGES) {
    const button = element('button', LANGUAGE_NAMES[language], 'plain');
    button.type = 'button';
    const show = (): void => {
      code.textContent = codeOf(language, client ? { ...call, client } : call, url);
      for (const other of tabs.children) other.setAttribute('aria-pressed', `${other === button}`);
    };
    button.addEventListener('click', show);
    tabs.append(button);
    if (code.textContent === '') show();
  }
  const shown = element('div', '', 'stack');
  shown.append(tabs, block);
  details.append(shown);
}

/** The body with the middle of long texts left out, which are the images of a prompt. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.length > MAX_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS)}…` : value;
  }
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shortened(one)]));
}
