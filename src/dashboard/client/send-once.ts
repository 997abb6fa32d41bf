/** A second click within this time is a part of the first. */
const TOGETHER_MS = 3_000;

/**
 * Sends a form once on a double click. The second answer would replace the first, and with it the
 * only sight of a new key's secret.
 */
export function sendOnce(root: Document): void {
  const sent = new WeakMap<EventTarget, number>();
  root.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.method !== 'post') return;
    if (event.defaultPrevented) return;
    const before = sent.get(form);
    if (before !== undefined && event.timeStamp - before < TOGETHER_MS) event.preventDefault();
    else sent.set(form, event.timeStamp);
  });
}
