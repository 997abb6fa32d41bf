/** A second submit within this time belongs to the same double click. */
const DOUBLE_CLICK_MS = 3_000;

/**
 * Sends a form once on a double click. The answer to the second submit would replace the answer to
 * the first, which alone shows the secret of a new key.
 */
export function sendOnce(root: Document): void {
  const sent = new WeakMap<EventTarget, number>();
  root.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.method !== 'post') return;
    if (event.defaultPrevented) return;
    const before = sent.get(form);
    if (before !== undefined && event.timeStamp - before < DOUBLE_CLICK_MS) event.preventDefault();
    else sent.set(form, event.timeStamp);
  });
}
