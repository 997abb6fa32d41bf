import { dropImages, images, takeImages } from './attachments.js';
import { chat, type Message } from './chat.js';
import { find } from './elements.js';
import { endKeyWithPage } from './gateway.js';
import { image, video } from './media.js';
import { chosen, kindOfModel, takesImages, watchModels } from './models.js';
import { callFor, promptOf, type PromptRequest } from './requests.js';
import type { Call } from './shown-code.js';
import { addPrompt, addRow, type Turn } from './turns.js';

const form = find<HTMLFormElement>('#playground');
const output = find<HTMLElement>('#output');
const start = find<HTMLElement>('#start');
const prompt = find<HTMLTextAreaElement>('#prompt');
const send = find<HTMLButtonElement>('#send');
const stop = find<HTMLButtonElement>('#stop');

/** The conversation with each model, the first one first. */
let conversations: Message[][] = [];
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
find('#clear').addEventListener('click', () => {
  running?.abort();
  conversations = [];
  output.replaceChildren(start);
});
for (const button of start.querySelectorAll<HTMLButtonElement>('[data-idea]')) {
  button.addEventListener('click', () => {
    prompt.value = button.dataset.idea ?? '';
    prompt.focus();
  });
}
// On a phone the options are folded, since most people leave them as they are.
find<HTMLDetailsElement>('#options').open = matchMedia('(min-width: 901px)').matches;
form.dataset.ready = '';
watchModels(form);
takeImages(form, takesImages);
endKeyWithPage();

async function run(text: string): Promise<void> {
  const controller = new AbortController();
  running = controller;
  send.disabled = true;
  stop.hidden = false;
  const models = chosen();
  const input = {
    kind: kindOfModel(),
    prompt: text,
    images: takesImages() ? images() : [],
    fields: new FormData(form),
  };
  prompt.value = '';
  dropImages();
  start.remove();
  addPrompt(output, text, input.images);
  // A model that joins later gets the conversation with the first one.
  const known = models.map((_id, at) => conversations[at] ?? conversations[0] ?? []);
  const turns = addRow(output, models);
  const conversation = turns.map((turn, at) => {
    const history = known[at] ?? [];
    const request = { ...input, model: models[at] ?? '', history };
    return converse(turn, request, controller.signal);
  });
  const histories = await Promise.all(conversation);
  // Clearing the page stops the answers and forgets the conversations.
  if (turns.some(({ root }) => root.isConnected)) conversations = histories;
  running = undefined;
  send.disabled = false;
  stop.hidden = true;
  prompt.focus();
}

/** Shows one answer. Resolves with the conversation after it, unchanged if the answer failed. */
async function converse(
  turn: Turn,
  request: PromptRequest,
  signal: AbortSignal,
): Promise<Message[]> {
  const history = [...request.history];
  const call = callFor(request);
  try {
    await answer(turn, call, signal);
    if (call.kind === 'chat')
      history.push(promptOf(request), { role: 'assistant', content: turn.text() });
  } catch (error) {
    turn.fail(signal.aborted ? 'Stopped.' : wordsOf(error));
  }
  turn.end(call);
  return history;
}

function answer(turn: Turn, call: Call, signal: AbortSignal): Promise<void> {
  if (call.kind === 'image') return image(turn, call, signal);
  if (call.kind === 'video') return video(turn, call, signal);
  return chat(turn, call, signal);
}

function wordsOf(error: unknown): string {
  if (error instanceof TypeError) return 'The gateway cannot be reached.';
  return error instanceof Error ? error.message : 'That did not work.';
}
