import { element, find } from './elements.js';

const model = find<HTMLSelectElement>('#model');
const other = find<HTMLSelectElement>('#other');

/** The IDs of the chosen models: one, or two to compare. */
export function chosen(): string[] {
  return [model.value, other.value].filter((id) => id !== '');
}

export function kindOfModel(): string {
  return optionOf(model)?.dataset.kind ?? 'chat';
}

/** Whether all chosen models take images with a prompt. */
export function takesImages(): boolean {
  const options = [optionOf(model), optionOf(other)];
  return options.every((option) => !option?.value || 'images' in option.dataset);
}

/** Shows the options of the chosen models now, and whenever another is chosen. */
export function watchModels(form: HTMLFormElement): void {
  const show = (): void => {
    const kind = kindOfModel();
    for (const options of form.querySelectorAll<HTMLElement>('[data-for]')) {
      options.hidden = options.dataset.for !== kind;
      for (const input of options.querySelectorAll('input, select')) {
        (input as HTMLInputElement).disabled = options.hidden;
      }
    }
    find('#attach').hidden = !takesImages();
    find('#price').textContent = optionOf(model)?.dataset.price ?? '';
    find('#other-price').textContent = optionOf(other)?.dataset.price ?? '';
  };
  model.addEventListener('change', () => {
    offerOthers();
    showSizes();
    show();
  });
  other.addEventListener('change', show);
  offerOthers();
  showSizes();
  show();
}

/** Models of one kind can be compared. */
function offerOthers(): void {
  const kind = kindOfModel();
  const before = other.value;
  const options = [...model.options].filter((option) => option.dataset.kind === kind);
  const none = other.options[0];
  other.replaceChildren(
    ...(none ? [none] : []),
    ...options.map((option) => option.cloneNode(true)),
  );
  other.value = options.some(({ value }) => value === before) ? before : '';
}

/** Offers the sizes that the page names for the model. */
function showSizes(): void {
  const size = find<HTMLSelectElement>('#size');
  const [none] = size.options;
  const { sizes = '', count = '' } = optionOf(model)?.dataset ?? {};
  const options = sizes.split(' ').filter(Boolean);
  size.replaceChildren(
    ...(none ? [none] : []),
    ...options.map((name) => {
      const option = element('option', name);
      option.value = name;
      return option;
    }),
  );
  find<HTMLInputElement>('#n').max = count;
}

function optionOf(select: HTMLSelectElement): HTMLOptionElement | undefined {
  return select.selectedOptions[0];
}
