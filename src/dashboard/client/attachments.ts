import { element, find } from './elements.js';

const MAX_IMAGES = 8;
const MAX_MEGABYTES = 10;
const MEGABYTE = 1_000_000;

let attached: string[] = [];

/** Takes images from the file dialog, the clipboard, and files dropped on the form. */
export function takeImages(form: HTMLFormElement, isWanted: () => boolean): void {
  const input = find<HTMLInputElement>('#images');
  input.addEventListener('change', () => {
    void add(input.files);
    input.value = '';
  });
  const take = (event: Event, files: FileList | undefined): void => {
    if (!isWanted() || !files || files.length === 0) return;
    event.preventDefault();
    void add(files);
  };
  form.addEventListener('paste', (event) => take(event, event.clipboardData?.files));
  form.addEventListener('drop', (event) => take(event, event.dataTransfer?.files));
  form.addEventListener('dragover', (event) => {
    if (isWanted()) event.preventDefault();
  });
}

/** The images as data: URLs. */
export function images(): readonly string[] {
  return attached;
}

export function dropImages(): void {
  attached = [];
  show('');
}

async function add(files: FileList | null): Promise<void> {
  let refused = '';
  for (const file of files ?? []) {
    refused ||= refusalOf(file);
    if (refused !== '') break;
    try {
      attached.push(await dataUrlOf(file));
    } catch {
      refused = `${file.name} cannot be read.`;
    }
  }
  show(refused);
}

function refusalOf(file: File): string {
  if (!file.type.startsWith('image/')) return `${file.name} is no image.`;
  if (attached.length >= MAX_IMAGES) return `At most ${MAX_IMAGES} images go with a prompt.`;
  if (file.size <= MAX_MEGABYTES * MEGABYTE) return '';
  return `${file.name} has more than ${MAX_MEGABYTES} MB.`;
}

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('loadend', () => {
      const { result } = reader;
      if (typeof result === 'string') resolve(result);
      else reject(new Error('It cannot be read.'));
    });
    reader.readAsDataURL(file);
  });
}

function show(refused: string): void {
  const entries = attached.map((source, at) => {
    const entry = element('li', '', 'card row');
    const image = element('img');
    image.src = source;
    image.height = 40;
    image.alt = `Image ${at + 1}`;
    const remove = element('button', 'Remove', 'plain');
    remove.type = 'button';
    remove.setAttribute('aria-label', `Remove image ${at + 1}`);
    remove.addEventListener('click', () => {
      attached = attached.filter((one) => one !== source);
      show('');
    });
    entry.append(image, remove);
    return entry;
  });
  const list = find('#attached');
  list.replaceChildren(...entries);
  list.hidden = entries.length === 0;
  const fault = find('#images-fault');
  fault.textContent = refused;
  fault.hidden = refused === '';
}
