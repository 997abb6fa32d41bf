import { chat, type Message } from './chat.js';
import { endKeyWithPage } from './gateway.js';
import { image, video } from './media.js';
import { addTurn, type Turn } from './turns.js';

const form = find<HTMLFormElement>('#playground');
const output = find<HTMLElement>('#output');
const start = find<HTMLElement>('#start');
const model = find<HTMLSelectElement>('#model');
const prompt = find<HTMLTextAreaElement>('#prompt');
const send = find<HTMLButtonElement>('#send');
const stop = find<HTMLButtonElement>('#stop');

let said: Message[] = [];
let running: AbortController | undefined;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (!running && prompt.value.trim() !== '') void run(prompt.value.trim());
});
prompt.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
stop.addEventListener('click', () => running?.abort());
model.addEventListener('change', showOptions);
find('#clear').addEventListener('click', () => {
  running?.abort();
  said = [];
  output.replaceChildren(start);
});
for (const button of start.querySelectorAll<HTMLButtonElement>('[data-idea]')) {
  button.addEventListener('click', () => {
    prompt.value = button.dataset['idea'] ?? '';
    prompt.focus();
  });
}
// On a phone the options are folded, since most people leave them as they are.
find<HTMLDetailsElement>('#options').open = matchMedia('(min-width: 901px)').matches;
showOptions();
endKeyWithPage();

async function run(text: string): Promise<void> {
  const controller = new AbortController();
  running = controller;
  send.disabled = true;
  stop.hidden = false;
  prompt.value = '';
  start.remove();
  addTurn(output, 'You', text, true);
  const turn = addTurn(output, model.value, '', false);
  turn.root.setAttribute('aria-busy', 'true');
  try {
    await answer(turn, text, controller.signal);
  } catch (error) {
    turn.fail(controller.signal.aborted ? 'Stopped.' : wordsOf(error));
  }
  turn.root.removeAttribute('aria-busy');
  running = undefined;
  send.disabled = false;
  stop.hidden = true;
  prompt.focus();
}

async function answer(turn: Turn, text: string, signal: AbortSignal): Promise<void> {
  const fields = new FormData(form);
  const word = (name: string): string => {
    const value = fields.get(name);
    return typeof value === 'string' ? value : '';
  };
  const kind = kindOfModel();
  if (kind === 'image') {
    await image(turn, { model: model.value, prompt: text, quality: word('quality') }, signal);
  } else if (kind === 'video') {
    const parameters = {
      resolution: word('resolution'),
      duration_seconds: Number(word('duration_seconds')),
      generate_audio: fields.has('generate_audio'),
    };
    await video(turn, model.value, { prompt: text, parameters }, signal);
  } else {
    const system = word('system').trim();
    const first: Message[] = system === '' ? [] : [{ role: 'system', content: system }];
    const asked: Message[] = [...said, { role: 'user', content: text }];
    const most = Number(word('max_tokens')) || undefined;
    const content = await chat(turn, model.value, [...first, ...asked], most, signal);
    said = [...asked, { role: 'assistant', content }];
  }
}

/** Shows the options of the chosen model, and its price. */
function showOptions(): void {
  const kind = kindOfModel();
  for (const options of form.querySelectorAll<HTMLElement>('[data-for]')) {
    options.hidden = options.dataset['for'] !== kind;
    for (const input of options.querySelectorAll('input')) input.disabled = options.hidden;
  }
  find('#price').textContent = model.selectedOptions[0]?.dataset['price'] ?? '';
}

function kindOfModel(): string {
  return model.selectedOptions[0]?.dataset['kind'] ?? 'chat';
}

function wordsOf(error: unknown): string {
  if (error instanceof TypeError) return 'The gateway cannot be reached.';
  return error instanceof Error ? error.message : 'That did not work.';
}

function find<E extends Element = HTMLElement>(selector: string): E {
  const element = document.querySelector<E>(selector);
  if (!element) throw new Error(`The page has no ${selector}.`);
  return element;
}
