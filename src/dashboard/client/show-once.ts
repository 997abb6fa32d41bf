/**
 * Shows a page once: a reload, or coming back to it, opens the page that `data-once` names instead.
 * Otherwise a reload would send the form again.
 */
export function showOnce(root: ParentNode): void {
  const path = root.querySelector<HTMLElement>('[data-once]')?.dataset.once;
  if (path === undefined) return;
  history.replaceState(null, '', path);
  addEventListener('pageshow', (event) => {
    if (event.persisted) location.replace(path);
  });
}
